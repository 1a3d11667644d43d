/**
 * Coverage: which transitions (one notice after another on one node) a sweep has seen, and the corpus
 * of scenarios that showed the rare ones, from which later schedules are drawn as well.
 */
import { noticeNames } from '../sim/index.ts';
import type { Corpus } from './generate.ts';
import type { Trace } from './trace-recorder.ts';

const begin = noticeNames.length;
/** A pair of notices as one number: `from` times this, plus `to`. */
const width = noticeNames.length + 1;
/** How many pairs of notices there could be. */
export const pairCount = width * width;
/** So many rare transitions give a scenario to the corpus. */
const corpusSize = 64;

/** The last notice of each node, and of none; written anew by every schedule. */
const last: number[] = [];

/** Counts each pair of the trace; `first` is told of those that were never seen. */
export function countTransitions(
  { codes, nodes }: Trace,
  counts: number[],
  first: (pair: number) => void,
): void {
  last.fill(begin);
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    const node = (nodes[at] ?? -1) + 1;
    const pair = (last[node] ?? begin) * width + code;
    last[node] = code;
    const before = counts[pair] ?? 0;
    counts[pair] = before + 1;
    if (before === 0) first(pair);
  }
}

export interface Transition {
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

const textOf = (code: number): string => noticeNames[code] ?? 'begin';

/** What a tally keeps of it. */
interface PairsSeen {
  /** How often each pair of notices was seen. */
  readonly transitions: readonly number[];
  /** What showed a pair first, by pair. */
  readonly firstSeen: Readonly<Record<string, { readonly scenario: Corpus[number] }>>;
}

/** The rarest first. */
export const transitionsSeen = ({ transitions }: Pick<PairsSeen, 'transitions'>): Transition[] =>
  rarest(transitions).map(({ pair, count }) => ({
    from: textOf(Math.floor(pair / width)),
    to: textOf(pair % width),
    count,
  }));

const rarest = (counts: readonly number[]): { pair: number; count: number }[] =>
  counts
    .map((count, pair) => ({ pair, count }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => a.count - b.count || a.pair - b.pair);

/** Names of the notices that were seen at all. */
export function statesSeen(tally: Pick<PairsSeen, 'transitions'>): readonly string[] {
  const seen = new Set(transitionsSeen(tally).map(({ to }) => to));
  return noticeNames.filter((name) => seen.has(name));
}

export const corpusOf = ({ transitions, firstSeen }: PairsSeen): Corpus =>
  rarest(transitions)
    .slice(0, corpusSize)
    .map(({ pair }) => firstSeen[pair])
    .filter((example) => example !== undefined)
    .map(({ scenario }) => scenario);
