/** The Kubernetes port on the model. */
import type { Kubernetes } from '../../port.ts';
import type { Taint } from '../api-objects.ts';
import { unmodelledApi } from '../lacks.ts';
import type { Model } from '../model.ts';
import { measuredTimes, secondUs } from '../timings.ts';
import { draw } from '../world.ts';
import type { Driver } from './driver.ts';

/** What a cordon comes to: the scheduler keeps off (k8s.io/api/core/v1 TaintNodeUnschedulable). */
const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

export function simKubernetes({ world }: Model, driver: Driver): Kubernetes {
  const { api, settings } = world;
  const call = <T>(work: () => T): Promise<T> =>
    driver.perform(draw(world, measuredTimes.apiCall), work);
  const deletePod = (uid: string, gracePeriodS: number): void => {
    if (api.pod?.uid === uid) api.deletePod(api.pod, gracePeriodS);
  };
  const taint = (name: string, { key, effect }: Taint): void => {
    const node = api.node(name);
    const others = node.taints.filter((each) => each.key !== key || each.effect !== effect);
    api.setTaints(node, [...others, { key, effect }]);
  };
  const untaint = (name: string, key: string): void => {
    const node = api.node(name);
    const others = node.taints.filter((each) => each.key !== key);
    api.setTaints(node, others);
  };
  const graceS = settings.terminationGraceUs / secondUs;
  return {
    ...unmodelledApi,
    databasePod: () =>
      call(() => {
        const { pod } = api;
        if (pod?.node === undefined) return undefined;
        return { name: pod.name, uid: pod.uid, node: pod.node };
      }),
    forceDelete: ({ uid }) => call(() => deletePod(uid, 0)),
    deletePod: ({ uid }) => call(() => deletePod(uid, graceS)),
    hasNode: (name) => call(() => api.nodes.has(name)),
    async drain(node, timeoutMs) {
      const { clock } = driver;
      const deadlineMs = clock.nowMs() + timeoutMs;
      await call(() => {
        taint(node, cordon);
        if (api.pod?.node === node) api.deletePod(api.pod, graceS);
      });
      while (api.pod?.node === node) {
        if (clock.nowMs() >= deadlineMs) {
          const answer = `error when waiting for pod "${api.pod.name}" terminating: timeout (model)`;
          return { drained: false, answer };
        }
        await clock.sleep(1000);
      }
      return { drained: true, answer: `${node} drained (model)` };
    },
    uncordon: (node) => call(() => untaint(node, cordon.key)),
    taint: (name, one) => call(() => taint(name, one)),
    untaint: (name, key) => call(() => untaint(name, key)),
    isReady: (name) => call(() => api.node(name).ready === 'True'),
  };
}
