/** The Kubernetes port on the model: the operator's acts, each a call to the API server. */
import type { ContainerReport, NodeKubernetes, PodKubernetes } from '../../run/index.ts';
import type { PodRef } from '../../history/index.ts';
import type { PodObject } from '../api-objects.ts';
import type { Model } from '../model.ts';
import { measuredTimes } from '../timings.ts';
import { draw } from '../world.ts';
import type { KernelDriver } from './kernel-driver.ts';

/** While the API server stands still it does not answer. */
const calling =
  ({ world }: Model, driver: KernelDriver) =>
  <T>(work: () => T): Promise<T> =>
    driver.performBy((run) => world.apiServer.after(draw(world, measuredTimes.apiCall), run), work);

/** `volume`: its number. */
export function simPodKubernetes(
  model: Model,
  driver: KernelDriver,
  volume: number,
): PodKubernetes {
  const { operator, api } = model;
  const call = calling(model, driver);
  return {
    databasePod: () => call(() => refOf(api.databasePod(volume))),
    databaseContainer: ({ uid }) => call(() => reportOf(api.podWithUid(uid))),
    forceDelete: ({ uid }) => call(() => operator.forceDelete(uid)),
    deletePod: ({ uid }) => call(() => operator.deletePod(uid)),
    stripPodFinalizers: ({ uid }) => call(() => operator.stripPodFinalizers(uid)),
    deleteAttachments: (name, options) =>
      call(() => operator.deleteAttachments(name, { ...options, volume })),
  };
}

export function simNodeKubernetes(model: Model, driver: KernelDriver): NodeKubernetes {
  const { operator, api } = model;
  const call = calling(model, driver);
  return {
    deleteNode: (name) => call(() => operator.deleteNode(name)),
    hasNode: (name) => call(() => api.node(name).exists),
    async drain(name, timeoutMs) {
      const { clock } = driver;
      const deadlineMs = clock.nowMs() + timeoutMs;
      const leaving = await call(() => {
        operator.cordon(name);
        operator.evict(name);
        return [...api.node(name).pods];
      });
      for (;;) {
        const left = leaving.find((pod) => api.pods.has(pod));
        if (left === undefined) return { drained: true, answer: `${name} drained (model)` };
        if (clock.nowMs() >= deadlineMs) {
          const answer = `error when waiting for pod "${left.name}" terminating: timeout (model)`;
          return { drained: false, answer };
        }
        await clock.sleep(1000);
      }
    },
    uncordon: (name) => call(() => operator.uncordon(name)),
    taint: (name, taint) => call(() => operator.taint(name, taint)),
    untaint: (name, key) => call(() => operator.untaint(name, key)),
    annotateLease: (name, value) => call(() => operator.annotateLease(name, value)),
    leaseAnnotation: (name) => call(() => api.node(name).leaseAnnotation),
    isReady: (name) =>
      call(() => {
        const { exists, ready } = api.node(name);
        return exists && ready === 'True';
      }),
  };
}

/** The model does not tell a container that ended from one that waits. */
function reportOf(pod: PodObject | undefined): ContainerReport | undefined {
  if (pod === undefined || pod.phase === 'Pending') return undefined;
  return { state: pod.containersRun ? 'running' : 'waiting', ready: pod.ready };
}

function refOf(pod: PodObject | undefined): PodRef | undefined {
  if (pod?.node === undefined) return undefined;
  return { name: pod.name, uid: pod.uid, node: pod.node.name };
}
