/** A remedy, of one volume or of all: applied at its moment, taken back at its own, both in the history. */
import type { Capability } from '../../capabilities.ts';
import { describeError } from '../../errors.ts';
import type { Moments } from '../../faults/fault.ts';
import type { Recorder } from '../../history/port.ts';
import { remedyOf } from '../../remedies/index.ts';
import { actsOn, remedyNamed } from '../../remedies/kinds/index.ts';
import type { Remedy, RemedyContext } from '../../remedies/remedy.ts';
import { whenInWords } from '../../when.ts';
import type { Scenario } from '../scenario.ts';
import { afterInterrupt, boundMs, within } from './bounds.ts';
import type { Struck } from './struck.ts';
import { recorderOf, type RunEvent } from './run-context.ts';
import { cameForAll } from './moments.ts';

export class RemedyRun {
  /** The volumes that it is for. */
  readonly of: readonly Struck[];
  readonly #event: RunEvent;
  readonly #remedy: Remedy;
  readonly #scenario: Scenario;
  readonly #recorder: Pick<Recorder, 'record'>;
  readonly #node: string;
  #applying: Promise<void> | undefined;
  /** It acted, and what it did was not taken back yet. */
  #stands = false;
  /** True once it has acted, false once it never will. */
  readonly #acted = Promise.withResolvers<boolean>();

  constructor(event: RunEvent, of: readonly Struck[], { scenario, victim }: Struck) {
    this.of = of;
    this.#event = event;
    this.#scenario = scenario;
    this.#remedy = event.custom?.remedy ?? remedyOf(remedyNamed(scenario.remedy));
    this.#recorder = recorderOf(of);
    this.#node = victim.node;
  }

  /** Waits for its moment and acts, once; a moment that does not come by the deadline is a failed step. */
  apply(faultAtMs: number, deadlineMs: number): Promise<void> {
    return (this.#applying ??= this.#apply(faultAtMs, deadlineMs));
  }

  async #apply(faultAtMs: number, deadlineMs: number): Promise<void> {
    try {
      if (this.#remedy.name === 'none') return;
      if (await this.#isDue(faultAtMs, deadlineMs)) await this.#act(deadlineMs);
      else
        this.#step(
          'failed',
          `${whenInWords(this.#scenario.remedyAt)} did not come within the horizon; ` +
            'raise --horizon, or set --remedy-at to an earlier moment',
        );
    } finally {
      this.#acted.resolve(this.#stands);
    }
  }

  #isDue(faultAtMs: number, deadlineMs: number): Promise<boolean> {
    const { cluster, signal } = this.#event;
    const { clock } = cluster;
    const { remedyAt, forceDetachAfterMs } = this.#scenario;
    const sightings = this.of.map((run) => run.sightings);
    const looking = { clock, sightings, faultAtMs, forceDetachAfterMs };
    return cameForAll(remedyAt, looking, { deadlineMs, signal });
  }

  /** A call that does not return by the deadline is given up: the heal may be what it waits for. */
  async #act(deadlineMs: number): Promise<void> {
    const { cluster, signal } = this.#event;
    const interrupt = { signal, ...afterInterrupt('ask-again') };
    const bound = { what: `remedy ${this.#remedy.name}`, deadlineMs, interrupt };
    this.#step('begin');
    this.#report('begins');
    this.#stands = true;
    try {
      const detail = await within(cluster.clock, bound, (signal) =>
        this.#remedy.apply(this.#context(signal)),
      );
      this.#step('done', detail);
    } catch (error) {
      this.#step('failed', describeError(error));
      this.#report(`failed: ${describeError(error)}`);
    }
  }

  /** Takes it back while the run is watched, where the scenario gives a time for that. */
  async goOn(moments: Moments): Promise<void> {
    const { untaintAt } = this.#scenario;
    if (typeof untaintAt !== 'number' || !(await this.#acted.promise)) return;
    if (await moments.passed(untaintAt)) await this.takeBack();
    else this.#step('failed', 'the watch was over before it was to be taken back');
  }

  /** Idempotent, and nothing where nothing was done. */
  async takeBack(): Promise<void> {
    const { cluster, signal } = this.#event;
    const { clock } = cluster;
    const remedy = this.#remedy;
    if (!this.#stands || remedy.undo === undefined) return;
    this.#step('heal');
    const deadlineMs = clock.nowMs() + boundMs('undo-remedy');
    const interrupt = { signal, ...afterInterrupt('undo-remedy') };
    const bound = { what: `the undo of remedy ${remedy.name}`, deadlineMs, interrupt };
    await within(clock, bound, (signal) => Promise.resolve(remedy.undo?.(this.#context(signal))));
    this.#stands = false;
    this.#step('healed');
  }

  #report(what: string): void {
    for (const { onProgress } of this.of) onProgress(`remedy ${this.#remedy.name} ${what}`);
  }

  #context(signal: AbortSignal): RemedyContext<Capability> {
    const victim = { node: this.#node };
    const volumes = this.of.map(({ volume }) => volume);
    const { name } = this.#remedy;
    const { cluster: testbed } = this.#event;
    return { name, testbed, recorder: this.#recorder, victim, volumes, signal };
  }

  #step(step: 'begin' | 'done' | 'failed' | 'heal' | 'healed', detail?: string): void {
    this.#recorder.record({
      ...{ type: 'action', actor: 'remedy', name: this.#remedy.name, step, node: this.#node },
      ...(detail === undefined ? {} : { detail }),
    });
  }
}

/** What an operator does to the node meets all volumes there: it is done once. The rest is each one's own. */
const meetsAll = ({ remedy }: Scenario): boolean => ['node', 'path'].includes(actsOn(remedy));

/** Those of a run: one for all its volumes, or one for each. */
export function remediesOf(event: RunEvent, struck: readonly Struck[]): readonly RemedyRun[] {
  const [first] = struck;
  if (first !== undefined && meetsAll(first.scenario)) return [new RemedyRun(event, struck, first)];
  return struck.map((run) => new RemedyRun(event, [run], run));
}
