/** The remedy of one run: applied at its moment, taken back at its own, both in the history. */
import type { BreakableTestbed, PodRef } from '../../cluster/port.ts';
import { describeError } from '../../errors.ts';
import type { Moments } from '../../faults/fault.ts';
import { remedies } from '../../remedies/index.ts';
import type { Remedy } from '../../remedies/remedy.ts';
import { whenInWords } from '../../when.ts';
import { afterInterrupt, boundsMs, within } from './bounds.ts';
import type { Run } from './run-context.ts';
import { hasCome } from './moments.ts';
import { waitUntil } from './wait.ts';

export interface RemedyOptions extends Omit<Run, 'testbed'> {
  readonly testbed: BreakableTestbed;
  readonly victim: PodRef;
}

export class RemedyRun {
  readonly #options: RemedyOptions;
  readonly #remedy: Remedy;
  /** It acted, and what it did was not taken back yet. */
  #stands = false;
  /** True once it has acted, false once it never will. */
  readonly #acted = Promise.withResolvers<boolean>();

  constructor(options: RemedyOptions) {
    this.#options = options;
    this.#remedy = options.custom?.remedy ?? remedies[options.scenario.remedy];
  }

  /** Waits for its moment and acts; a moment that does not come by the deadline is a failed step. */
  async apply(faultAtMs: number, deadlineMs: number): Promise<void> {
    const { remedyAt } = this.#options.scenario;
    try {
      if (this.#remedy.name === 'none') return;
      if (await this.#isDue(faultAtMs, deadlineMs)) await this.#act(deadlineMs);
      else this.#step('failed', `${whenInWords(remedyAt)} did not come within the horizon`);
    } finally {
      this.#acted.resolve(this.#stands);
    }
  }

  async #isDue(faultAtMs: number, deadlineMs: number): Promise<boolean> {
    const { scenario, testbed, sightings, signal } = this.#options;
    const { clock } = testbed;
    const { remedyAt, forceDetachAfterMs } = scenario;
    const looking = { clock, sightings, faultAtMs, forceDetachAfterMs };
    return waitUntil(clock, () => hasCome(remedyAt, looking), { deadlineMs, signal });
  }

  /** A call that does not return by the deadline is given up: the heal may be what it waits for. */
  async #act(deadlineMs: number): Promise<void> {
    const { testbed, recorder, victim, onProgress, signal } = this.#options;
    const interrupt = { signal, ...afterInterrupt['ask-again'] };
    const bound = { what: `remedy ${this.#remedy.name}`, deadlineMs, interrupt };
    this.#step('begin');
    this.#stands = true;
    try {
      const detail = await within(testbed.clock, bound, (signal) =>
        this.#remedy.apply({ testbed, recorder, victim, signal }),
      );
      this.#step('done', detail);
      onProgress(`remedy ${this.#remedy.name} applied`);
    } catch (error) {
      this.#step('failed', describeError(error));
    }
  }

  /** Takes it back while the run is watched, where the scenario gives a time for that. */
  async goOn(moments: Moments): Promise<void> {
    const { untaintAt } = this.#options.scenario;
    if (typeof untaintAt !== 'number' || !(await this.#acted.promise)) return;
    if (await moments.passed(untaintAt)) await this.takeBack();
    else this.#step('failed', 'the watch was over before it was to be taken back');
  }

  /** Idempotent, and nothing where nothing was done. */
  async takeBack(): Promise<void> {
    const { testbed, recorder, victim, signal } = this.#options;
    const remedy = this.#remedy;
    if (!this.#stands || remedy.undo === undefined) return;
    this.#step('heal');
    const deadlineMs = testbed.clock.nowMs() + boundsMs['undo-remedy']();
    const interrupt = { signal, ...afterInterrupt['undo-remedy'] };
    const bound = { what: `the undo of remedy ${remedy.name}`, deadlineMs, interrupt };
    await within(testbed.clock, bound, (signal) =>
      Promise.resolve(remedy.undo?.({ testbed, recorder, victim, signal })),
    );
    this.#stands = false;
    this.#step('healed');
  }

  #step(step: 'begin' | 'done' | 'failed' | 'heal' | 'healed', detail?: string): void {
    const { recorder, victim } = this.#options;
    recorder.record({
      ...{ type: 'action', actor: 'remedy', name: this.#remedy.name, step, node: victim.node },
      ...(detail === undefined ? {} : { detail }),
    });
  }
}
