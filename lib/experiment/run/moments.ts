/** The moments at which a fault goes on, or a remedy acts, while the run is watched. */
import type { Clock } from '../../clock.ts';
import type { Moments } from '../../faults/fault.ts';
import { delayedOf, isSeen, type When } from '../../when.ts';
import type { Sightings } from './sightings.ts';
import { waitUntil } from './wait.ts';

interface Looking {
  readonly clock: Clock;
  /** Sightings of each volume: a moment has come when it has for one of them. */
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

export function hasCome(
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
