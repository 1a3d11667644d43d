/** A run on the terminal: its progress, its end by a signal, and at last what it could not heal. */
import { type Clock, plainText } from '../../core/index.ts';
import type { Database } from '../../run/index.ts';
import type { RunHooks } from '../library/run-plan.ts';
import { say } from '../command.ts';
import { onInterrupt } from '../guard.ts';
import { narrating } from './narrator.ts';
import { startProgress, type LogProgress } from './progress.ts';
import { TimeLeft } from './time-left.ts';

/** `perform` gets the hooks of the run; the clock is the run's own. */
export async function onTerminal<V>(
  database: Database,
  perform: (watch: (clock: Clock) => RunHooks) => Promise<V>,
): Promise<V> {
  let progress: LogProgress | undefined;
  // Lines quote the engine, the cluster and the database.
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
        onRecord: narrating(shown, database),
        signal: interrupt.signal,
      };
    });
  } finally {
    progress?.end();
    // Last, where it is not overlooked.
    for (const what of unhealed) say(`NOT HEALED or left behind: ${what}`);
  }
}
