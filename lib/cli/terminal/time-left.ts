/** What an interrupted run is still at, and how long that may take: what a second Ctrl-C is told. */
import { afterInterrupt, type BoundedStep } from '../../run/index.ts';

/** What comes after an interrupt, in its order. */
const wayHome = [
  'heal',
  'undo-remedy',
  'undo-move-back',
  'stop-observers',
  'stop-writers',
  'export-writes',
  'close',
] as const satisfies readonly BoundedStep[];

/** `nowMs`: any clock of real time. */
export class TimeLeft {
  readonly #nowMs: () => number;
  #step: BoundedStep = 'prepare';
  #sinceMs: number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#sinceMs = nowMs();
  }

  enter(step: BoundedStep): void {
    this.#step = step;
    this.#sinceMs = this.#nowMs();
  }

  /** From now on each step has so long as it has after an interrupt. */
  interrupt(): void {
    this.#sinceMs = this.#nowMs();
  }

  /** `heal, at most 72 s more; all of it at most 362 s`. */
  words(): string {
    const stepMs = afterInterrupt(this.#step).mostMs - (this.#nowMs() - this.#sinceMs);
    const later = wayHome.slice(wayHome.findIndex((step) => step === this.#step) + 1);
    // A cluster that never came up has nothing but itself to take back.
    const steps: readonly BoundedStep[] = this.#step === 'prepare' ? ['clean-up'] : later;
    const allMs = steps.reduce((sum, step) => sum + afterInterrupt(step).mostMs, stepMs);
    const [stepS, allS] = [stepMs, allMs].map((ms) => Math.max(1, Math.ceil(ms / 1000)));
    return `${this.#step}, at most ${stepS} s more; all of it at most ${allS} s`;
  }
}
