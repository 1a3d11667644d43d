/** Level-triggered work: any number of nudges before its delay is over make one reconcile. */
import type { Chance } from './chance.ts';
import type { DurationRange } from './timings.ts';

interface Runner {
  after(delayUs: number, work: () => void): void;
}

/** Give a runner that forgets what it has under way only together with what is returned. */
export function coalesced(
  runner: Runner,
  chance: Chance,
  range: DurationRange,
  reconcile: () => void,
): () => void {
  let pending = false;
  const run = (): void => {
    pending = false;
    reconcile();
  };
  return () => {
    if (pending) return;
    pending = true;
    runner.after(chance.within(range), run);
  };
}
