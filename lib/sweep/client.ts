/**
 * The client of a schedule: rarely heard while nothing moves, at once at the hand-over, and often from
 * then on until a database serves for good. So a schedule has some hundred commits, whatever its rate is.
 */
import { secondUs } from '../cluster/sim/timings.ts';
import type { Timer } from '../cluster/sim/kernel.ts';
import type { Model } from '../cluster/sim/model.ts';
import type { Scenario } from '../experiment/scenario.ts';
import type { Commits } from './commits.ts';
import type { Witness } from './witness.ts';

const beatUs = { calm: 30 * secondUs, busy: secondUs / 4 };
/** A busy client commits so often while the successor recovers: enough to break that. */
const burst = { commits: 40, forUs: 6 * secondUs };
const busyRate = 100;

export interface ClientOptions {
  readonly model: Model;
  readonly scenario: Scenario;
  readonly witness: Witness;
  readonly commits: Commits;
}

export class Client {
  readonly #options: ClientOptions;
  readonly #isBusy: boolean;
  readonly #beatAgain = (): void => this.#beat();
  #next: Timer | undefined;
  /** The schedule is over but for what may still come of it. */
  isSettled = false;

  constructor(options: ClientOptions) {
    this.#options = options;
    const { rate } = options.scenario;
    this.#isBusy = rate === 'max' || rate >= busyRate;
    if (rate === 0) return;
    // Else the victim is asked again up to 30 s into an overlap that may be shorter than that.
    options.witness.onSecondMount = this.#beatNow.bind(this);
    this.#beat();
  }

  #beatNow(): void {
    this.#options.model.kernel.cancel(this.#next);
    this.#beat();
  }

  #beat(): void {
    const { model, witness, commits } = this.#options;
    const { kernel } = model;
    const sinceUs = kernel.nowUs - (witness.secondMountAtUs ?? Infinity);
    commits.ask(this.#isBusy && sinceUs >= 0 && sinceUs < burst.forUs ? burst.commits : 1);
    const isCalm = this.isSettled || sinceUs < 0;
    this.#next = kernel.schedule(isCalm ? beatUs.calm : beatUs.busy, this.#beatAgain);
  }
}
