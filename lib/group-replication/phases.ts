/** When what happened to the group: seconds after the fault, from what its members said. */
import type { SeenView, GroupStory } from './story.ts';
import type { GroupVerdict } from './verdict.ts';
import { hasQuorum, selfIn } from './views.ts';

/** `firstCommitMs`: the first acknowledgement by another member, on the run's clock. */
export function groupPhases(
  story: GroupStory,
  firstCommitMs: number | undefined,
): GroupVerdict['phases'] {
  const { victimNode: victim, faultAtMs, healedAtMs, routes, views } = story;
  const after = (ms: number | undefined): number | null =>
    ms === undefined || faultAtMs === undefined ? null : Math.round(ms - faultAtMs) / 1000;
  const first = (fits: (view: SeenView) => boolean): number | null =>
    after(views.find((view) => view.t >= (faultAtMs ?? 0) && fits(view))?.t);
  const others = (fits: (view: SeenView) => boolean): number | null =>
    first((view) => view.node !== victim && hasQuorum(view) && fits(view));
  const own = (fits: (view: SeenView) => boolean): number | null =>
    first((view) => view.node === victim && fits(view));
  return {
    suspected: others(({ members }) =>
      members.some(({ node, state }) => node === victim && state === 'UNREACHABLE'),
    ),
    expelled: others(({ members }) => members.every(({ node }) => node !== victim)),
    newPrimary: after(replacedAtMs(story)),
    routed: after(routes.find(({ t, node }) => t >= (faultAtMs ?? 0) && node !== victim)?.t),
    firstCommit: after(firstCommitMs),
    victimAlone: own((view) => selfIn(view)?.state === 'ONLINE' && !hasQuorum(view)),
    victimLeft: own((view) => ['ERROR', 'OFFLINE'].includes(selfIn(view)?.state ?? '')),
    victimReadOnly: own(({ superReadOnly }) => superReadOnly),
    victimOffline: own(({ offlineMode }) => offlineMode),
    healed: after(healedAtMs),
    rejoined: after(rejoinedAtMs(story)),
  };
}

/** When another member said, with a majority, that it or a third one is the primary. */
export function replacedAtMs({
  victimNode: victim,
  faultAtMs,
  views,
}: GroupStory): number | undefined {
  const another = ({ members }: SeenView): boolean =>
    members.some(({ node, role }) => node !== victim && role === 'PRIMARY');
  return views.find(
    (view) =>
      faultAtMs !== undefined &&
      view.t >= faultAtMs &&
      view.node !== victim &&
      hasQuorum(view) &&
      another(view),
  )?.t;
}

/**
 * When the victim, healed, said that it is in good order and with a majority that has another
 * primary: right after a thaw it still takes itself for the old one. Undefined where it never did.
 */
export function rejoinedAtMs({
  victimNode: victim,
  healedAtMs,
  views,
}: GroupStory): number | undefined {
  if (healedAtMs === undefined) return undefined;
  return views.find(
    (view) =>
      view.node === victim &&
      view.t >= healedAtMs &&
      hasQuorum(view) &&
      selfIn(view)?.role === 'SECONDARY',
  )?.t;
}
