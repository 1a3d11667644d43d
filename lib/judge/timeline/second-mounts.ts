/** Every time the volume came to another node than the one that had it. */
import { type ObservationRecord, observed } from '../../history/index.ts';
import { accessesOf, type Access } from './access.ts';
import { milestones } from './milestones.ts';
import { rolesIn, rolesOf, type Roles } from './roles.ts';
import type { Story } from './story.ts';

export interface SecondMount {
  /** Who had the volume, and who got it. */
  readonly from: string;
  readonly to: string;
  /** The old node's pod; undefined where none was seen. */
  readonly podUid: string | undefined;
  /** From when on the decisions count that led here, and when it was mounted; the run's clock. */
  readonly sinceMs: number;
  readonly atMs: number;
  /** The mount itself, or its refusal. */
  readonly seen: ObservationRecord;
  /** The new node had the volume and could write it, but its mount was refused. */
  readonly isRefused?: true;
  /** The old node could still write it. */
  readonly overlaps: boolean;
}

/** One way of the volume from node to node. */
export interface Passage {
  readonly story: Story;
  readonly mount: SecondMount;
  /** The node that had it is the victim, the one that got it the successor. */
  readonly roles: Roles;
}

export const passageOf = (story: Story, mount: SecondMount): Passage => ({
  ...{ story, mount },
  roles: rolesOf({ node: mount.from, uid: mount.podUid }, story.database, mount.to),
});

/** In order of time, from the fault to the end of the run. `accesses`: who could write, when. */
export function secondMountsOf(
  story: Story,
  accesses: readonly Access[] = accessesOf(story),
): SecondMount[] {
  const { observations, faultAtMs, victimNode, victimUid } = story;
  if (faultAtMs === undefined || victimNode === undefined) return [];
  const found: SecondMount[] = [];
  let holder = { node: victimNode, podUid: victimUid, sinceMs: faultAtMs };
  for (const seen of observations) {
    const { name, node, t } = seen;
    if (t < faultAtMs || name !== observed.mounted) continue;
    if (node === undefined || node === holder.node) continue;
    const { node: from, podUid, sinceMs } = holder;
    const overlaps = accesses.some(
      ({ node: on, fromMs, toMs }) => on === from && fromMs < t && toMs > t,
    );
    found.push({ from, to: node, podUid, sinceMs, atMs: t, seen, overlaps });
    holder = { node, podUid: podBoundTo(observations, node, t), sinceMs: t };
  }
  return found;
}

/** The first mount that was refused on another node than the victim's, from the fault on. */
export function refusedMountOf(story: Story, accesses: readonly Access[]): SecondMount | undefined {
  const { observations, faultAtMs, victimNode, victimUid } = story;
  if (faultAtMs === undefined || victimNode === undefined) return undefined;
  const roles = rolesIn(story);
  const seen = observations.find(
    (each) => each.t >= faultAtMs && milestones['stage-refused'].is(each, roles),
  );
  if (seen?.node === undefined) return undefined;
  const { t: atMs, node: to } = seen;
  const overlaps = accesses.some(
    ({ node, fromMs, toMs }) => node === victimNode && fromMs < atMs && toMs > atMs,
  );
  const passage = { from: victimNode, to, podUid: victimUid, sinceMs: faultAtMs, atMs };
  return { ...passage, seen, overlaps, isRefused: true };
}

/** Whether a node had the volume mounted at that moment, as the observers of mounts saw it. */
export function isMounted(
  observations: readonly ObservationRecord[],
  on: string,
  atMs: number,
): boolean {
  const last = observations.findLast(
    ({ name, node, t }) =>
      node === on && t < atMs && (name === observed.mounted || name === observed.unmounted),
  );
  return last?.name === observed.mounted;
}

function podBoundTo(
  observations: readonly ObservationRecord[],
  on: string,
  byMs: number,
): string | undefined {
  const seen = observations.findLast(
    ({ name, node, t }) => name === observed.podScheduled && node === on && t <= byMs,
  );
  return seen === undefined ? undefined : String(seen.data.uid);
}
