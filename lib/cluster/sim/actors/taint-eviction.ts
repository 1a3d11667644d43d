/**
 * The taint eviction controller: deletes the pods of a node with a NoExecute taint once their
 * toleration is over; counted from when it sees the taint, forgotten when the taint goes.
 */
import type { Timer } from '../kernel.ts';
import { measuredTimes, secondUs } from '../timings.ts';
import { coalesced, type World } from '../world.ts';
import { unreachableKey } from './node-monitor.ts';

/** Pods tolerate the unreachable taint for `tolerationSeconds`, others not at all. */
export function startTaintEviction(world: World): void {
  const { kernel, api, settings } = world;
  let due: { readonly uid: string; readonly timer: Timer } | undefined;

  const forget = (): void => {
    kernel.cancel(due?.timer);
    due = undefined;
  };
  const evict = (uid: string): void => {
    const { pod } = api;
    if (pod?.uid === uid) api.deletePod(pod, settings.terminationGraceUs / secondUs);
  };

  const reconcile = (): void => {
    const { pod } = api;
    if (due !== undefined && due.uid !== pod?.uid) forget();
    if (pod?.node === undefined || pod.terminating) return;
    const taints = api.node(pod.node).taints.filter(({ effect }) => effect === 'NoExecute');
    const { uid } = pod;
    if (taints.length === 0) forget();
    else if (taints.some(({ key }) => key !== unreachableKey)) evict(uid);
    else {
      due ??= { uid, timer: kernel.schedule(settings.tolerationUs, () => evict(uid)) };
    }
  };
  api.watch(coalesced(world, measuredTimes.watchDelay, reconcile));
}
