/** The moments at which a fault goes on, or a remedy acts, while the run is watched. */
import type { Clock } from '../../clock.ts';
import type { Moments } from '../../faults/fault.ts';
import { delayedOf, isSeen, type When } from '../../when.ts';
import type { Sightings } from './sightings.ts';
import { waitUntil, type WaitUntilOptions } from './wait.ts';

interface Looking {
  readonly clock: Clock;
  /** Sightings of each volume: a moment of the fault has come when it has for one of them. */
  readonly sightings: readonly Sightings[];
  readonly faultAtMs: number;
  /** The wait before a forced detach. */
  readonly forceDetachAfterMs: number;
}

export interface MomentOptions extends Looking {
  /** Ends what goes on also where the watch itself hangs in a call. */
  readonly signal?: AbortSignal;
}

/** Watches, and lets `goOn` act meanwhile; resolves once both have ended. `goOn` must not reject. */
export async function watchWhile<T>(
  options: MomentOptions,
  goOn: (moments: Moments) => Promise<unknown>,
  watching: () => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const { clock, faultAtMs, signal } = options;
  const ended = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  const going = goOn({
    reached: (moment) => reached(options, moment, ended),
    passed: (ms) => reached(options, clock.nowMs() + ms - faultAtMs, ended),
  });
  try {
    return await watching();
  } finally {
    over.abort();
    await going;
  }
}

/** Pods of one node are evicted one after the other, within a second. */
const othersWithinMs = 10_000;

/**
 * False where it did not come by the deadline. What is done once for all volumes waits until it has come
 * for each, as each history asks; where it never does for one, the others do not wait for it long.
 */
export async function cameForAll(
  moment: When,
  looking: Looking,
  { deadlineMs, signal }: Pick<WaitUntilOptions, 'deadlineMs' | 'signal'>,
): Promise<boolean> {
  const { clock, sightings } = looking;
  const each = sightings.map((one) => ({ ...looking, sightings: [one] }));
  if (!(await waitUntil(clock, () => hasCome(moment, looking), { deadlineMs, signal })))
    return false;
  const untilMs = Math.min(clock.nowMs() + othersWithinMs, deadlineMs);
  await waitUntil(clock, () => each.every((one) => hasCome(moment, one)), {
    deadlineMs: untilMs,
    signal,
  });
  return true;
}

function hasCome(
  moment: When,
  { clock, sightings, faultAtMs, forceDetachAfterMs }: Looking,
): boolean {
  const { event, afterMs } = delayedOf(moment, { forceDetachAfterMs });
  if (event === undefined) return clock.nowMs() >= faultAtMs + afterMs;
  if (afterMs === 0) return sightings.some((each) => isSeen(event, each));
  // Nothing else is waited for so long after it.
  const goneAtMs = Math.min(...sightings.map(({ victimGoneAtMs = Infinity }) => victimGoneAtMs));
  return clock.nowMs() >= goneAtMs + afterMs;
}

async function reached(options: MomentOptions, moment: When, over: AbortSignal): Promise<boolean> {
  const isNow = (): boolean => hasCome(moment, options);
  try {
    return await waitUntil(options.clock, isNow, {
      deadlineMs: Number.MAX_SAFE_INTEGER,
      signal: over,
    });
  } catch (error) {
    if (over.aborted) return false;
    throw error;
  }
}
