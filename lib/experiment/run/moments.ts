/** The moments at which a fault goes on while the run is watched. */
import type { Clock } from '../../clock.ts';
import type { Moments } from '../../faults/fault.ts';
import type { Moment } from '../scenario.ts';
import type { Sightings } from './sightings.ts';
import { waitUntil } from './wait.ts';

export interface MomentOptions {
  readonly clock: Clock;
  readonly sightings: Sightings;
  readonly faultAtMs: number;
  /** The wait before a forced detach. */
  readonly forceDetachAfterMs: number;
  /** Ends what goes on also where the watch itself hangs in a call. */
  readonly signal?: AbortSignal;
}

/** Watches, and lets `goOn` act meanwhile; resolves once both have ended. `goOn` must not reject. */
export async function watchWhile(
  options: MomentOptions,
  goOn: (moments: Moments) => Promise<unknown>,
  watching: () => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const { clock, faultAtMs, signal } = options;
  const ended = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  const going = goOn({
    reached: (moment) => reached(options, moment, ended),
    passed: (ms) => reached(options, clock.nowMs() + ms - faultAtMs, ended),
  });
  try {
    await watching();
  } finally {
    over.abort();
    await going;
  }
}

async function reached(
  { clock, sightings, faultAtMs, forceDetachAfterMs }: MomentOptions,
  moment: Moment,
  over: AbortSignal,
): Promise<boolean> {
  const isNow = (): boolean => {
    const goneForMs = clock.nowMs() - (sightings.victimGoneAtMs ?? Number.POSITIVE_INFINITY);
    switch (moment) {
      case 'terminating':
        return sightings.victimTerminating;
      case 'pod-gone':
        return goneForMs >= 0;
      case 'half-wait':
        return goneForMs >= forceDetachAfterMs / 2;
      case 'force-detach':
        return sightings.victimDetached;
      default:
        return clock.nowMs() >= faultAtMs + moment;
    }
  };
  try {
    return await waitUntil(clock, isNow, { deadlineMs: Number.MAX_SAFE_INTEGER, signal: over });
  } catch (error) {
    if (over.aborted) return false;
    throw error;
  }
}
