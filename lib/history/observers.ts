/** Observers say what they see, beat while they really see, and say when they end. */
import type { Recorder } from '../cluster/port.ts';
import { observed } from './observations.ts';

/** One that sees beats so often, also where there is nothing to see. */
export const beatEveryMs = 20_000;
/** Between two beats it is no longer than this, or the observer was blind: a busy machine is late. */
export const beatWithinMs = 90_000;

export interface Beating {
  /** It has just looked, and saw. `t`: when, on the run's clock. */
  beat(t?: number): void;
  /** It is closed in good order. */
  end(): void;
}

/** `sees`: the sources of its observations. */
export function declareObserver(
  recorder: Recorder,
  observer: string,
  sees: readonly string[],
): Beating {
  const say = (name: string, t?: number): void =>
    recorder.record({
      ...{ type: 'observation', source: 'observer', name, data: { observer, sees } },
      ...(t === undefined ? {} : { t }),
    });
  say(observed.observerBegan);
  return { beat: (t) => say(observed.observerBeat, t), end: () => say(observed.observerEnded) };
}
