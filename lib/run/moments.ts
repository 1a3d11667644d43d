/** The moments at which a fault goes on, or a remedy acts, while the run is watched. */
import { type Clock, delayedOf, isSeen, type When } from '../core/index.ts';
import type { Moments } from './faults/fault.ts';
import type { Sightings } from '../judge/index.ts';
import { waitUntil, type WaitUntilOptions } from './wait.ts';

interface Watched {
  readonly clock: Clock;
  /** Of each volume: a moment of the fault has come when it has for one of them. */
  readonly sightings: readonly Sightings[];
  readonly faultAtMs: number;
  /** The wait before a forced detach. */
  readonly forceDetachAfterMs: number;
}

/** Watches, and lets `goOn` act meanwhile; resolves once both have ended. `goOn` must not reject. */
export async function watchWhile<T>(
  options: Watched & {
    /** Ends what goes on also where the watch itself hangs in a call. */
    readonly signal?: AbortSignal;
  },
  goOn: (moments: Moments) => Promise<unknown>,
  watching: () => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const { clock, faultAtMs } = options;
  const signal = AbortSignal.any([over.signal, ...(options.signal ? [options.signal] : [])]);
  const reached = async (moment: When): Promise<boolean> => {
    const isNow = (): boolean => volumesAt(moment, options) > 0;
    try {
      return await waitUntil(clock, isNow, { deadlineMs: Number.MAX_SAFE_INTEGER, signal });
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  };
  const going = goOn({ reached, passed: (ms) => reached(clock.nowMs() + ms - faultAtMs) });
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
 * for each, since each history must show it; where it never does for one, the others do not wait for it long.
 */
export async function cameForAll(
  moment: When,
  watched: Watched,
  { deadlineMs, signal }: Pick<WaitUntilOptions, 'deadlineMs' | 'signal'>,
): Promise<boolean> {
  const { clock, sightings } = watched;
  const cameFor = (least: number, untilMs: number): Promise<boolean> =>
    waitUntil(clock, () => volumesAt(moment, watched) >= least, { deadlineMs: untilMs, signal });
  if (!(await cameFor(1, deadlineMs))) return false;
  await cameFor(sightings.length, Math.min(clock.nowMs() + othersWithinMs, deadlineMs));
  return true;
}

/** For how many volumes it has come. */
function volumesAt(
  moment: When,
  { clock, sightings, faultAtMs, forceDetachAfterMs }: Watched,
): number {
  const { event, afterMs } = delayedOf(moment, { forceDetachAfterMs });
  return sightings.filter((one) => {
    if (event === undefined) return clock.nowMs() >= faultAtMs + afterMs;
    if (afterMs === 0) return isSeen(event, one);
    // Nothing else is waited for so long after it.
    return clock.nowMs() >= (one.victimGoneAtMs ?? Infinity) + afterMs;
  }).length;
}
