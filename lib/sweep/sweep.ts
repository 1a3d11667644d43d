/**
 * A sweep: rounds of schedules on all threads, until a number or a time is spent. What a schedule is
 * depends on the seed and on the rounds before in its island, never on how many threads there are.
 */
import { z } from 'zod';
import { UsageError, moduleBeside, WorkerPool } from '../core/index.ts';
import { diskModes, type DiskMode, scenarioSchema } from '../scenario/index.ts';
import {
  corpusOf,
  coverageSchema,
  emptyCoverage,
  joinCoverage,
  emptyTally,
  joinTally,
  tallySchema,
  type ScheduleRange,
  type Tally,
} from './tally.ts';

/** A state of another version has other pairs of notices, or scenarios that are none today. */
export const sweepStateSchema = z.object({
  seed: z.string().min(1),
  /** The first schedule that was not played. */
  next: z.number().int().nonnegative(),
  /** The disk of every schedule. Default: drawn. */
  disk: z.enum(diskModes).optional(),
  tally: tallySchema,
  /** Corpus of the round that `next` is in. */
  corpus: z.array(scenarioSchema).readonly(),
  /** What the island that `next` is in has seen so far. */
  learned: coverageSchema,
});
export type SweepState = Readonly<z.output<typeof sweepStateSchema>>;

/** Plays stretches: threads, or whatever has the same answers. */
export type SweepPool = Pick<WorkerPool<ScheduleRange, Tally>, 'run'>;

/** A schedule leaves much garbage and keeps nothing: with room for it each costs 5 % less (docs/internals/sweep.md). */
const youngMb = 256;

export const sweepPool = (threads: number): WorkerPool<ScheduleRange, Tally> =>
  new WorkerPool(moduleBeside('worker', import.meta), threads, { youngMb });

interface SweepOptions {
  readonly pool: SweepPool;
  /** Where to go on. */
  readonly from: SweepState;
  /** Ends with this schedule. */
  readonly untilIndex: number;
  /** Asked before each round. Default: always. */
  readonly goesOn?: () => boolean;
  readonly onRound?: (state: SweepState) => void;
}

/** Few enough for a time budget to hold, many enough to keep all threads busy. */
const roundSchedules = 4000;
const stretchSchedules = 250;

const untaught = () => ({ corpus: [], learned: emptyCoverage() });

/** `next`: the first schedule of an island. Default the sweep's first one. */
export const newSweep = (seed: string, disk?: DiskMode, next = 0): SweepState => ({
  ...{ seed, next, disk },
  ...untaught(),
  tally: emptyTally(),
});

/** The end of the stretch of so many schedules that has this index: the index behind its last one. */
const endOf = (index: number, schedules: number): number =>
  (Math.floor(index / schedules) + 1) * schedules;

export async function sweep(options: SweepOptions): Promise<SweepState> {
  const { pool, untilIndex, goesOn = () => true, onRound } = options;
  let state = options.from;
  while (state.next < untilIndex && goesOn()) {
    // Rounds lie on a grid, so that a sweep that was stopped and resumed is the same sweep.
    state = await playRound(pool, state, Math.min(untilIndex, endOf(state.next, roundSchedules)));
    onRound?.(state);
  }
  return state;
}

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

/**
 * Islands: a sweep learns within each, and nothing from one to the next, so that they can be played
 * side by side, on machines that know nothing of each other. Many enough for nearly all schedules of
 * one to gain from what it learns; a number of rounds.
 */
export const islandSchedules = 40_000;

/** Where the island of a schedule ends: the index of the first schedule behind it. */
export const islandEnd = (index: number): number => endOf(index, islandSchedules);

/** Schedules in a row that one machine plays: whole islands, but for the ends of the sweep. */
export interface SweepShard {
  /** Index of the first one. */
  readonly from: number;
  /** Index behind the last one. */
  readonly until: number;
}

/** The islands of these schedules. */
export const islandCount = (from: number, until: number): number =>
  Math.ceil(until / islandSchedules) - Math.floor(from / islandSchedules);

/** Makes shards as even as islands allow. Throws UsageError `TOO_MANY_SHARDS`. */
export function shardsOf(from: number, until: number, count: number): SweepShard[] {
  const islands = islandCount(from, until);
  if (islands < count) {
    const what = `cannot split ${until - from} schedules into ${count} shards`;
    throw new UsageError('TOO_MANY_SHARDS', what, {
      hint:
        `a shard plays whole islands of ${islandSchedules} schedules; give more --schedules, ` +
        `or at most --shards ${islands}`,
    });
  }
  const first = Math.floor(from / islandSchedules);
  const edge = (shard: number): number =>
    (first + Math.floor((shard * islands) / count)) * islandSchedules;
  return Array.from({ length: count }, (_, shard) => ({
    from: Math.max(from, edge(shard)),
    until: Math.min(until, edge(shard + 1)),
  }));
}
