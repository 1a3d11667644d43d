/**
 * The pod garbage collector: every 20 s it removes Terminating pods of nodes that are not Ready and
 * carry the out-of-service taint (podgc/gc_controller.go gcTerminating).
 */
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import { draw, every, type World } from '../world.ts';

export const outOfServiceKey = 'node.kubernetes.io/out-of-service';

export function startPodGc(world: World): void {
  const { kernel, api } = world;
  every(world, kubernetesTimes.podGcUs, () => {
    const { pod } = api;
    if (pod?.node === undefined || !pod.terminating) return;
    const node = api.node(pod.node);
    const isOut = node.taints.some(({ key }) => key === outOfServiceKey);
    if (node.ready === 'True' || !isOut) return;
    api.failPod(pod);
    kernel.schedule(draw(world, measuredTimes.apiCall), () => api.removePod(pod.uid));
  });
}
