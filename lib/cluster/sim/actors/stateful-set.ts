/**
 * The StatefulSet controller and the scheduler: a pod's successor is created only once its object
 * is gone (names are unique), and bound to a node that is Ready and not tainted.
 */
import { measuredTimes } from '../timings.ts';
import { coalesced, type World } from '../world.ts';

export function startStatefulSet(world: World): void {
  const { api } = world;
  const create = coalesced(world, measuredTimes.controllerStep, () => {
    if (api.pod === undefined) api.createPod();
  });
  const bind = coalesced(world, measuredTimes.controllerStep, () => {
    const { pod } = api;
    if (pod === undefined || pod.node !== undefined || pod.terminating) return;
    const fit = [...api.nodes.values()].filter(
      ({ ready, taints }) => ready === 'True' && taints.length === 0,
    );
    const chosen = fit[world.chance.int(0, Math.max(0, fit.length - 1))];
    if (chosen !== undefined) api.bindPod(pod, chosen.name);
  });
  api.watch(() => {
    if (api.pod === undefined) create();
    else if (api.pod.node === undefined) bind();
  });
}
