/** The moments at which a fault goes on while the run is watched. */
import type { Clock } from '../cluster/clock.ts';
import type { Moments } from '../faults/fault.ts';
import type { Moment } from './scenario.ts';
import type { Sightings } from './sightings.ts';
import { waitUntil } from './wait.ts';

export interface MomentOptions {
  readonly clock: Clock;
  readonly sightings: Sightings;
  readonly faultAtMs: number;
}

/** Watches, and lets `goOn` act meanwhile; resolves once both have ended. `goOn` must not reject. */
export async function watchWhile(
  options: MomentOptions,
  goOn: (moments: Moments) => Promise<unknown>,
  watching: () => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const going = goOn({ reached: (moment) => reached(options, moment, over.signal) });
  try {
    await watching();
  } finally {
    over.abort();
    await going;
  }
}

async function reached(
  { clock, sightings, faultAtMs }: MomentOptions,
  moment: Moment,
  over: AbortSignal,
): Promise<boolean> {
  const isNow = (): boolean =>
    moment === 'force-detach' ? sightings.victimDetached : clock.nowMs() >= faultAtMs + moment;
  try {
    return await waitUntil(clock, isNow, { deadlineMs: Number.MAX_SAFE_INTEGER, signal: over });
  } catch (error) {
    if (over.aborted) return false;
    throw error;
  }
}
