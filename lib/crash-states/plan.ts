/**
 * Which moments of a run are looked at. A loss of power strikes between two records of the log; half
 * of the moments are drawn from all there are, half from those right before and after a flush, where
 * a promise begins. Everything follows from the seed.
 */
import type { PowerLoss } from '../disk-kinds.ts';
import { writeOps, type WriteLog } from '../history/writes.ts';
import { randomStream, type RandomStream } from '../random.ts';

export interface PlanOptions {
  /** At most so many states; fewer where the log has not as many moments. */
  readonly states: number;
  /** What becomes of unflushed writes; the states take turns. */
  readonly policies: readonly PowerLoss[];
  readonly seed: string;
  /** The first acknowledged commit, ms on the run's clock: moments before it can lose nothing. */
  readonly firstAckMs: number;
}

export interface PlannedState {
  /** From 1, in the order of the log. */
  readonly number: number;
  /** The last record of the log that still happened. */
  readonly position: number;
  /** The latest time at which this is all that had happened, ms on the run's clock. */
  readonly atMs: number;
  readonly policy: PowerLoss;
  readonly drawn: 'anywhere' | 'at-flush';
}

export interface Plan {
  /** By position. */
  readonly states: readonly PlannedState[];
  /** Moments that could have been drawn: one after each write and each flush since the first ack. */
  readonly moments: number;
  /** Those right before or right after a flush. */
  readonly flushMoments: number;
}

/** Same log, same options: same plan. */
export function planStates(log: WriteLog, options: PlanOptions): Plan {
  const { states, policies, seed, firstAckMs } = options;
  const untilMs = latestTimes(log);
  const { moments, flushMoments } = momentsOf(log, (at) => (untilMs[at] ?? 0) >= firstAckMs);
  const random = randomStream(seed).stream('crash-states');
  const anywhere = draw(random.stream('anywhere'), moments, Math.ceil(states / 2));
  const atFlush = draw(random.stream('at-flush'), flushMoments, Math.floor(states / 2));
  // Each half takes turns on its own, so that every policy meets both.
  const planned = [
    ...anywhere.map((position, n) => ({ position, n, drawn: 'anywhere' as const })),
    ...atFlush.map((position, n) => ({ position, n, drawn: 'at-flush' as const })),
  ].flatMap(({ position, n, drawn }) => {
    const policy = policies[n % policies.length];
    const atMs = untilMs[position] ?? 0;
    return policy === undefined ? [] : [{ position, atMs, policy, drawn }];
  });
  return {
    states: planned
      .toSorted((a, b) => a.position - b.position)
      .map((state, index) => ({ number: index + 1, ...state })),
    moments: moments.length,
    flushMoments: flushMoments.length,
  };
}

/**
 * By position: the time of the next thing that happened. What a client was told before that time
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
): { readonly moments: readonly number[]; readonly flushMoments: readonly number[] } {
  const moments: number[] = [];
  const flushMoments = new Set<number>();
  for (let index = 0; index < log.length; index += 1) {
    const { op } = log.at(index);
    const flushes = op === writeOps.flushEnd || op === writeOps.flushIgnored;
    if (!flushes && op !== writeOps.write && op !== writeOps.zero) continue;
    if (isWanted(index)) moments.push(index);
    if (!flushes) continue;
    if (index > 0 && isWanted(index - 1)) flushMoments.add(index - 1);
    if (isWanted(index)) flushMoments.add(index);
  }
  return { moments, flushMoments: [...flushMoments] };
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
