/** The port to a run's history, and observers, which say that they see, beat, and say when they end. */
import { describeError } from '../core/index.ts';
import { observed, type ObservationRecord, type ObservedName, type Seen } from './observations.ts';
import type { HistoryRecord, RowRecord } from './records.ts';

/** Where everything that is seen or done is recorded. Records are stamped by the recorder. */
export interface Recorder {
  record(record: Unstamped | RowRecord): void;
  /** Hears of every record but operations and rows from now on; returns what ends it. */
  subscribe(listener: (record: HistoryRecord) => void): () => void;
}
type WithoutStamp<T> = T extends { t: number } ? Omit<T, 't' | 'wall'> : never;
/** A record before the recorder stamps it; an observer that knows better may stamp it itself. */
export type Unstamped = (
  | WithoutStamp<Exclude<HistoryRecord, ObservationRecord>>
  | Omit<Seen, 't' | 'wall'>
) & {
  readonly t?: number;
  readonly wall?: number;
};

/** One that sees beats so often, also where there is nothing to see. */
export const beatEveryMs = 20_000;
/** Between two beats it is no longer than this, or the observer was blind: a busy machine is late. */
export const beatWithinMs = 90_000;

/** How often a fault that lasts is asked whether it holds: once a minute with stock timers; a run with a shorter grace period is over sooner. */
export const askAgainEveryMs = (graceMs: number): number =>
  Math.min(60_000, Math.max(5000, 1.2 * graceMs));

/** Between two answers it is no longer than this: the machine may be busy, and a fault has four probes. */
export const askedWithinMs = (graceMs: number): number => 2 * askAgainEveryMs(graceMs) + 60_000;

export interface Beating {
  /** It has just looked, and saw. `t`: when, on the run's clock. One that had ended begins anew. */
  beat(t?: number): void;
  /**
   * It is closed in good order; or, with a `reason`, what it looked at is gone, such as a node that
   * was switched off. Idempotent.
   */
  end(reason?: string): void;
}

export interface Declared {
  readonly observer: string;
  /** The sources of its observations. */
  readonly sees: readonly string[];
  /** Where it can see on this node only, so that it goes when the node does. */
  readonly node?: string;
}

/**
 * `look` as a callback that never throws: whatever it throws is evidence that is missing, which the
 * history says, and the observer, the others and the run go on. Every callback of an observer is one.
 */
export const guarded =
  <T extends readonly unknown[]>(
    recorder: Recorder,
    observer: string,
    look: (...seen: T) => unknown,
  ): ((...seen: T) => Promise<void>) =>
  async (...seen) => {
    try {
      await look(...seen);
    } catch (error) {
      const message = describeError(error);
      recorder.record({ type: 'error', where: `observer of ${observer}`, message });
    }
  };

export function declareObserver(recorder: Recorder, { observer, sees, node }: Declared): Beating {
  let on = true;
  const say = (
    name: ObservedName,
    more: { readonly t?: number; readonly reason?: string } = {},
  ): void => {
    const { t, ...about } = more;
    recorder.record({
      ...{ type: 'observation', source: 'observer', name, data: { observer, sees, ...about } },
      ...(node === undefined ? {} : { node }),
      ...(t === undefined ? {} : { t }),
    });
  };
  say(observed.observerBegan);
  return {
    beat(t) {
      const more = t === undefined ? {} : { t };
      if (!on) say(observed.observerBegan, more);
      on = true;
      say(observed.observerBeat, more);
    },
    end(reason) {
      if (!on) return;
      on = false;
      say(observed.observerEnded, reason === undefined ? {} : { reason });
    },
  };
}
