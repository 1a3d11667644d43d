/**
 * When what happened to the group: seconds after the fault, and in words. Told by what its members say of
 * each other: none of it is a milestone of a volume that moves.
 */
import type { GroupStory, SeenView } from './story.ts';
import type { GroupVerdict } from './verdict.ts';
import { hasQuorum, selfIn } from '../database/group-views.ts';

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

const phaseNames: Readonly<Record<keyof GroupVerdict['phases'], string>> = {
  suspected: 'another member reports the victim as unreachable',
  expelled: 'the group expels the victim',
  newPrimary: 'the group has another primary',
  routed: 'a router sends outside clients there',
  firstCommit: 'the first commit there',
  victimAlone: 'the victim sees no majority',
  victimLeft: 'the victim reports that it left the group',
  victimReadOnly: 'the victim is read-only',
  victimOffline: 'the victim refuses ordinary users',
  healed: 'healed',
  rejoined: 'the victim is an online member again',
};

interface GroupPhase {
  /** Seconds after the fault. */
  readonly s: number;
  readonly what: string;
}

/** Those that were seen, in the order in which they came. */
export const phaseRows = ({ phases }: Pick<GroupVerdict, 'phases'>): GroupPhase[] =>
  Object.entries(phaseNames)
    .flatMap(([name, what]) => {
      const s = phases[name as keyof typeof phases];
      return s === null ? [] : [{ s, what }];
    })
    .toSorted((a, b) => a.s - b.s);

/** `, up to 48.2 s behind`; nothing where no read was stale. */
export const stalestText = ({ victim: { stalestMs } }: Pick<GroupVerdict, 'victim'>): string =>
  stalestMs === null ? '' : `, up to ${(stalestMs / 1000).toFixed(1)} s behind`;
