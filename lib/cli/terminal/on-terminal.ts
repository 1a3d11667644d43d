/** A run on the terminal: told as it goes, ended by a signal, and at last what it could not mend. */
import type { Clock } from '../../cluster/clock.ts';
import type { RunHooks } from '../../library/run-plan.ts';
import { plainText } from '../../plain-text.ts';
import { say } from '../command.ts';
import { onInterrupt } from '../guard.ts';
import { narrating } from './narrator.ts';
import { startProgress, type Progress } from './progress.ts';
import { afterInterrupt, type Step } from '../../experiment/run/bounds.ts';

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

/** What comes after an interrupt, in its order. */
const wayHome = [
  'heal',
  'undo-remedy',
  'undo-move-back',
  'stop-observers',
  'stop-writers',
  'export-writes',
  'close',
] as const satisfies readonly Step[];

/** `nowMs`: any clock of real time. */
export class TimeLeft {
  readonly #nowMs: () => number;
  #step: Step = 'prepare';
  #sinceMs: number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#sinceMs = nowMs();
  }

  enter(step: Step): void {
    this.#step = step;
    this.#sinceMs = this.#nowMs();
  }

  /** From now on each step has so long as it has after an interrupt. */
  interrupt(): void {
    this.#sinceMs = this.#nowMs();
  }

  /** `heal, at most 72 s more; all of it at most 362 s`. */
  words(): string {
    const stepMs = afterInterrupt[this.#step].mostMs - (this.#nowMs() - this.#sinceMs);
    const later = wayHome.slice(wayHome.findIndex((step) => step === this.#step) + 1);
    // A cluster that never came up has nothing but itself to take back.
    const steps: readonly Step[] = this.#step === 'prepare' ? ['clean-up'] : later;
    const allMs = steps.reduce((sum, step) => sum + afterInterrupt[step].mostMs, stepMs);
    const [stepS, allS] = [stepMs, allMs].map((ms) => Math.max(1, Math.ceil(ms / 1000)));
    return `${this.#step}, at most ${stepS} s more; all of it at most ${allS} s`;
  }
}
