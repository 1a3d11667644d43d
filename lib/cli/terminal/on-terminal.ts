/** A run on the terminal: told as it goes, ended by a signal, and at last what it could not mend. */
import type { Clock } from '../../clock.ts';
import type { RunHooks } from '../../library/run-plan.ts';
import { plainText } from '../../plain-text.ts';
import { say } from '../command.ts';
import { onInterrupt } from '../guard.ts';
import { narrating } from './narrator.ts';
import { startProgress, type Progress } from './progress.ts';
import { TimeLeft } from './time-left.ts';

/** `perform` is given what the run is to tell; the clock is the run's own. */
export async function onTerminal<V>(
  perform: (watch: (clock: Clock) => RunHooks) => Promise<V>,
): Promise<V> {
  let progress: Progress | undefined;
  // Lines tell what the engine, the cluster and the database said.
  const tellStep = (line: string): void => progress?.say(plainText(line));
  const left = new TimeLeft();
  const unhealed: string[] = [];
  using interrupt = onInterrupt(tellStep, () => left.words());
  interrupt.signal.addEventListener('abort', () => left.interrupt());
  try {
    return await perform((clock) => {
      const shown = startProgress(process.stderr, clock);
      progress = shown;
      return {
        onProgress: tellStep,
        onPhase: (phase) => shown.phase(phase),
        onStep: (step) => left.enter(step),
        onUnhealed: (what) => unhealed.push(what),
        onRecord: narrating(shown),
        signal: interrupt.signal,
      };
    });
  } finally {
    await progress?.end();
    // Last, where it is not overlooked.
    for (const what of unhealed) say(`NOT HEALED, or left behind: ${what}`);
  }
}
