/**
 * A sweep: rounds of schedules on all threads, until a number or a time is spent. What a schedule is
 * depends on the seed and on the rounds before in its island, never on how many threads there are.
 */
import type { DiskMode } from '../disk-modes/index.ts';
import { corpusOf } from './coverage.ts';
import type { Corpus } from './generate.ts';
import { islandEnd } from './islands.ts';
import type { SweepPool } from './pool.ts';
import {
  emptyCoverage,
  emptyTally,
  joinCoverage,
  joinTally,
  type Coverage,
  type Tally,
} from './tally.ts';

export interface SweepState extends Learning {
  readonly seed: string;
  /** The first schedule that was not played. */
  readonly next: number;
  /** The disk of every schedule. Default: drawn. */
  readonly disk?: DiskMode | undefined;
  readonly tally: Tally;
}

interface Learning {
  /** Of the round that `next` is in. */
  readonly corpus: Corpus;
  /** What the island that `next` is in has seen so far. */
  readonly learned: Coverage;
}

export interface SweepOptions {
  readonly pool: SweepPool;
  /** Where to go on. */
  readonly from: SweepState;
  /** Ends with this schedule. */
  readonly untilIndex: number;
  /** Asked after each round: whether another one begins. */
  readonly goesOn: () => boolean;
  readonly onRound: (state: SweepState) => void;
}

/** Few enough for a time budget to hold, many enough to keep all threads busy. */
const roundSchedules = 4000;
const stretchSchedules = 250;

/** `next`: the first schedule of an island. Default the sweep's first one. */
export const newSweep = (seed: string, disk?: DiskMode, next = 0): SweepState => ({
  ...{ seed, next, disk },
  ...untaught(),
  tally: emptyTally(),
});

const untaught = (): Learning => ({ corpus: [], learned: emptyCoverage() });

export async function sweep(options: SweepOptions): Promise<SweepState> {
  const { pool, untilIndex, goesOn, onRound } = options;
  let state = options.from;
  while (state.next < untilIndex && goesOn()) {
    state = await playRound(pool, state, Math.min(untilIndex, roundEnd(state.next)));
    onRound(state);
  }
  return state;
}

/** Rounds lie on a grid, so that a sweep that was stopped and resumed is the same sweep. */
const roundEnd = (index: number): number =>
  (Math.floor(index / roundSchedules) + 1) * roundSchedules;

async function playRound(pool: SweepPool, state: SweepState, end: number): Promise<SweepState> {
  const { seed, next, disk, tally, learned } = state;
  const corpus = next % roundSchedules === 0 ? corpusOf(learned) : state.corpus;
  const starts: number[] = [];
  for (let from = next; from < end; from += stretchSchedules) starts.push(from);
  const parts = await Promise.all(
    starts.map((from) =>
      pool.run({ seed, corpus, disk, from, count: Math.min(stretchSchedules, end - from) }),
    ),
  );
  for (const part of parts) {
    joinTally(tally, part);
    joinCoverage(learned, part);
  }
  const learning = end === islandEnd(next) ? untaught() : { corpus, learned };
  return { seed, next: end, disk, tally, ...learning };
}

/** The sweep so far and the shard behind it as one sweep. Takes over `state`'s tally. */
export function joinShard(state: SweepState, shard: SweepState): SweepState {
  joinTally(state.tally, shard.tally);
  return { ...shard, tally: state.tally };
}
