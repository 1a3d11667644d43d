/**
 * Which moments of a run are examined. A loss of power strikes between two records of the log. Half
 * of the moments or more are drawn from all there are; a quarter from those right before and after a flush,
 * where a promise begins; a quarter from those with much unflushed, where most can go wrong.
 * Everything follows from the seed.
 */
import type { PowerLoss } from '../../scenario/index.ts';
import { writeOps, type WriteLog } from '../../history/index.ts';
import { randomStream, type RandomStream } from '../../core/index.ts';
import { VolatileCache } from './volatile-cache.ts';

export interface PlanOptions {
  /** At most so many states; fewer where the log has not as many moments. */
  readonly states: number;
  /** What becomes of unflushed writes; the states take turns. */
  readonly policies: readonly PowerLoss[];
  /** Gives the moments and what unflushed writes become. */
  readonly seed: string;
  /** The first acknowledged commit, ms on the run's clock: moments before it can lose nothing. */
  readonly firstAckMs: number;
}

export const draws = ['anywhere', 'at-flush', 'much-unflushed'] as const;
export type Drawn = (typeof draws)[number];

export interface PlannedState {
  /** From 1, in the order of the log. */
  readonly number: number;
  /** The last record of the log that still happened. */
  readonly position: number;
  /** The latest time at which this is all that had happened, ms on the run's clock. */
  readonly atMs: number;
  readonly policy: PowerLoss;
  readonly drawn: Drawn;
}

export interface CrashStatePlan {
  /** By position. */
  readonly states: readonly PlannedState[];
  /**
   * Moments that could have been drawn since the first ack. Anywhere: one after each write and each
   * flush; of those: right before or after a flush, and with at least 8 writes unflushed.
   */
  readonly moments: Readonly<Record<Drawn, number>>;
}

/** Writes unflushed at once where pages are written back: commits alone leave one to three. */
const muchUnflushed = 8;

/** Same log, same options: same plan. */
export function planStates(log: WriteLog, options: PlanOptions): CrashStatePlan {
  const { policies, seed, firstAckMs } = options;
  const untilMs = latestTimes(log);
  const moments = momentsOf(log, (at) => (untilMs[at] ?? 0) >= firstAckMs);
  const random = randomStream(seed).stream('crash-states');
  const drawFrom = (drawn: Drawn, count: number): number[] =>
    draw(random.stream(drawn), moments[drawn], count);
  const quarter = Math.floor(options.states / 4);
  const atFlush = drawFrom('at-flush', quarter);
  const much = drawFrom('much-unflushed', quarter);
  const anywhere = drawFrom('anywhere', options.states - atFlush.length - much.length);
  const drawnBy = { anywhere, 'at-flush': atFlush, 'much-unflushed': much };
  const planned = draws.flatMap((drawn) =>
    drawnBy[drawn].flatMap((position, turn) => {
      // Policies take turns within each draw, so that every policy meets every kind of moment.
      const policy = policies[turn % policies.length];
      const atMs = untilMs[position] ?? 0;
      return policy === undefined ? [] : [{ position, atMs, policy, drawn }];
    }),
  );
  const states = planned
    .toSorted((a, b) => a.position - b.position)
    .map((state, index) => ({ number: index + 1, ...state }));
  const counts = draws.map((drawn) => [drawn, moments[drawn].length]);
  return { states, moments: Object.fromEntries(counts) as CrashStatePlan['moments'] };
}

/**
 * By position: the time of the next thing that happened. What a client had acknowledged before that time
 * rests on records up to this position alone, since a record's time is taken before its answer.
 */
function latestTimes(log: WriteLog): Float64Array {
  const latest = new Float64Array(log.length);
  let next = log.length === 0 ? 0 : log.atMs(log.length - 1);
  for (let index = log.length - 1; index >= 0; index -= 1) {
    latest[index] = next;
    next = Math.min(next, log.atMs(index));
  }
  return latest;
}

function momentsOf(
  log: WriteLog,
  isWanted: (position: number) => boolean,
): Readonly<Record<Drawn, readonly number[]>> {
  const anywhere: number[] = [];
  const atFlush = new Set<number>();
  const much: number[] = [];
  const cache = new VolatileCache(log);
  for (let index = 0; index < log.length; index += 1) {
    cache.advance(index);
    const { op } = log.at(index);
    const flushes = op === writeOps.flushEnd || op === writeOps.flushIgnored;
    if (!flushes && op !== writeOps.write && op !== writeOps.zero) continue;
    if (isWanted(index)) anywhere.push(index);
    if (isWanted(index) && cache.unflushedCount >= muchUnflushed) much.push(index);
    if (!flushes) continue;
    if (index > 0 && isWanted(index - 1)) atFlush.add(index - 1);
    if (isWanted(index)) atFlush.add(index);
  }
  return { anywhere, 'at-flush': [...atFlush], 'much-unflushed': much };
}

/** So many of them, each at most once, in random order: Floyd's algorithm, then a shuffle. */
function draw(random: RandomStream, from: readonly number[], count: number): number[] {
  const chosen = new Set<number>();
  for (let last = Math.max(0, from.length - count); last < from.length; last += 1) {
    const index = random.int(0, last);
    chosen.add(chosen.has(index) ? last : index);
  }
  return [...chosen]
    .map((index) => ({ position: from[index] ?? 0, key: random.float() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ position }) => position);
}
