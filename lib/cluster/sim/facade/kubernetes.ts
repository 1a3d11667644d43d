/** The Kubernetes port on the model. */
import type { Kubernetes } from '../../port.ts';
import type { Model } from '../model.ts';
import { measuredTimes } from '../timings.ts';
import { draw } from '../world.ts';
import type { Driver } from './driver.ts';

export function simKubernetes({ world }: Model, driver: Driver): Kubernetes {
  const { api } = world;
  const call = <T>(work: () => T): Promise<T> =>
    driver.perform(draw(world, measuredTimes.apiCall), work);
  return {
    databasePod: () =>
      call(() => {
        const { pod } = api;
        if (pod?.node === undefined) return undefined;
        return { name: pod.name, uid: pod.uid, node: pod.node };
      }),
    forceDelete: ({ uid }) =>
      call(() => {
        if (api.pod?.uid === uid) api.terminatePod(api.pod, 0);
        api.removePod(uid);
      }),
    taint: (name, { key, effect }) =>
      call(() => {
        const node = api.node(name);
        const others = node.taints.filter((taint) => taint.key !== key || taint.effect !== effect);
        api.setTaints(node, [...others, { key, effect }]);
      }),
    untaint: (name, key) =>
      call(() => {
        const node = api.node(name);
        api.setTaints(
          node,
          node.taints.filter((taint) => taint.key !== key),
        );
      }),
    isReady: (name) => call(() => api.node(name).ready === 'True'),
  };
}
