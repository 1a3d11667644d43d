/**
 * When what happened to the group: seconds after the fault, and in words. It is what its members report of
 * each other: none of it is a milestone of a volume that moves.
 */
import { hasQuorum, selfIn } from '../../history/index.ts';
import type { GroupStory, TimedView } from './story.ts';
import { phaseWords, type GroupVerdict } from './verdict.ts';

type Fits = (view: TimedView) => boolean;

/** Undefined also where nothing is to be looked for: `fromMs` never came. */
const firstView = (
  { views }: GroupStory,
  fromMs: number | undefined,
  fits: Fits,
): number | undefined =>
  fromMs === undefined ? undefined : views.find((view) => view.t >= fromMs && fits(view))?.t;

/** `firstCommitMs`: the first acknowledgement by another member, on the run's clock. */
export function groupPhases(
  story: GroupStory,
  firstCommitMs: number | undefined,
): GroupVerdict['phases'] {
  const { victimNode: victim, faultAtMs, healedAtMs, routes } = story;
  const after = (ms: number | undefined): number | null =>
    ms === undefined || faultAtMs === undefined ? null : Math.round(ms - faultAtMs) / 1000;
  const first = (fits: Fits): number | null => after(firstView(story, faultAtMs, fits));
  const others = (fits: Fits): number | null =>
    first((view) => view.node !== victim && hasQuorum(view) && fits(view));
  const own = (fits: Fits): number | null => first((view) => view.node === victim && fits(view));
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

/** When another member reported, with a majority, that it or a third one is the primary. */
export const replacedAtMs = (story: GroupStory): number | undefined =>
  firstView(
    story,
    story.faultAtMs,
    (view) =>
      view.node !== story.victimNode &&
      hasQuorum(view) &&
      view.members.some(({ node, role }) => node !== story.victimNode && role === 'PRIMARY'),
  );

/**
 * When the victim, healed, reported that it is in good order and with a majority that has another
 * primary: right after a thaw it still takes itself for the old one. Undefined where it never did.
 */
export const rejoinedAtMs = (story: GroupStory): number | undefined =>
  firstView(
    story,
    story.healedAtMs,
    (view) =>
      view.node === story.victimNode && hasQuorum(view) && selfIn(view)?.role === 'SECONDARY',
  );

/** Those that came, by their time: seconds after the fault. */
export const phaseRows = ({
  phases,
}: Pick<GroupVerdict, 'phases'>): { readonly s: number; readonly what: string }[] =>
  Object.entries(phaseWords)
    .flatMap(([name, what]) => {
      const s = phases[name as keyof typeof phases];
      return s === null ? [] : [{ s, what }];
    })
    .toSorted((a, b) => a.s - b.s);
