/** Remedies: what removes the old pod so that the database can start elsewhere, when it acts and when it is taken back. */
import {
  type Capability,
  EvidenceError,
  ForcedetachError,
  isSeen,
  kubernetesTimes,
  msUs,
  outOfServiceKey,
  outOfServiceTaint,
  describeError,
  whenInWords,
} from '../core/index.ts';
import { certify, onEach, type Moments, type Remedy, type RemedyContext } from './faults/fault.ts';
import { proven } from './faults/probes.ts';
import { type ActionRecord, canaryContent } from '../history/index.ts';
import { cameForAll } from './moments.ts';
import type { RunEvent, Struck } from './run-context.ts';
import { Shell } from './shell.ts';
import {
  drainMs,
  type RemedyAct,
  type RemedyDeclaration,
  actsOn,
  remedyNamed,
  switchesOff,
} from '../scenario/index.ts';

/** Resolves to what came of it, where that is worth a line in the history. */
type Act = (context: RemedyContext<Capability>) => Promise<string | void>;

const toPods =
  (verb: 'deletePod' | 'forceDelete' | 'stripPodFinalizers'): Act =>
  async ({ volumes }) => {
    for (const { pods, pod } of volumes) await pods[verb](pod);
  };

const deleteAttachments =
  (stripFinalizers: boolean): Act =>
  async ({ victim, volumes }) => {
    const names: string[] = [];
    for (const { pods } of volumes) {
      names.push(...(await pods.deleteAttachments(victim.node, { stripFinalizers })));
    }
    return names.length === 0 ? `${victim.node} had no VolumeAttachment` : names.join(', ');
  };

const fenced = 'the storage says that every path of the victim is cut, before the taint is set';

const acts: Readonly<Record<RemedyAct, Act>> = {
  'delete pod': toPods('deletePod'),
  'force-delete pod': toPods('forceDelete'),
  'strip pod finalizers': toPods('stripPodFinalizers'),
  async 'restart rollout'({ volumes }) {
    for (const { pods } of volumes) await pods.restartRollout();
  },
  'taint out-of-service': ({ testbed, victim }) =>
    testbed.kubernetes.taint(victim.node, outOfServiceTaint),
  untaint: ({ testbed, victim }) => testbed.kubernetes.untaint(victim.node, outOfServiceKey),
  async 'cut paths'({ name, testbed, victim, volumes, statesProof }) {
    const proofs = await onEach(volumes, async ({ disk, recorder }) => {
      const proof = await disk.fence(victim.node);
      await certify(recorder, name, 'during', [proven(fenced, proof)]);
      return proof;
    });
    if (proofs.some(({ verified }) => !verified)) {
      throw new EvidenceError(
        'NOT_FENCED',
        `${victim.node} is not cut off, so it does not get the taint`,
      );
    }
    const how = proofs.map(({ evidence }) => evidence).join('; ');
    if (statesProof) await testbed.kubernetes.stateFenced(victim.node, how);
    return how;
  },
  async 'power off'({ testbed, victim, volumes, statesProof }) {
    const machine = testbed.machine(victim.node);
    // As a crash does it: what a kernel unmounts when its node is killed must not reach the disk.
    await onEach(volumes, ({ disk }) => disk.losePower(victim.node, canaryContent));
    await machine.kill();
    await onEach(volumes, ({ disk }) => disk.releaseDead(victim.node));
    const how = `${victim.node} is ${await machine.state()}`;
    if (statesProof) await testbed.kubernetes.stateFenced(victim.node, how);
    return how;
  },
  'delete node': ({ testbed, victim }) => testbed.kubernetes.deleteNode(victim.node),
  async 'register node'({ testbed, victim }) {
    const machine = testbed.machine(victim.node);
    if (await testbed.kubernetes.hasNode(victim.node)) return;
    // One that is down registers itself when it boots.
    if ((await machine.state()) === 'running') await machine.restartKubelet();
  },
  async drain({ testbed, victim }) {
    const { drained, answer } = await testbed.kubernetes.drain(victim.node, drainMs);
    return `${drained ? 'drained' : 'not drained'}: ${answer}`;
  },
  uncordon: ({ testbed, victim }) => testbed.kubernetes.uncordon(victim.node),
  'delete attachments': deleteAttachments(false),
  'strip attachments': deleteAttachments(true),
};

export const remedyOf = ({ name, acts: names, undo }: RemedyDeclaration): Remedy => ({
  name,
  async apply(context) {
    let detail: string | undefined;
    for (const [index, act] of names.entries()) {
      if (index > 0) context.signal.throwIfAborted();
      const came = await acts[act](context);
      detail ??= came ?? undefined;
    }
    return detail;
  },
  ...(undo === undefined
    ? {}
    : {
        async undo(context) {
          await acts[undo](context);
        },
      }),
});

/** Why a remedy that asks first did nothing: it was told no, or nothing. */
interface Refusal {
  readonly step: 'refused' | 'failed';
  readonly why: string;
}

export class RemedyRun {
  /** The volumes that it is for. */
  readonly of: readonly Struck[];
  readonly shell: Shell;
  readonly #event: RunEvent;
  readonly #remedy: Remedy;
  readonly #first: Struck;
  readonly #endsMachine: boolean;
  #hasSwitchedOff = false;
  #applying: Promise<void> | undefined;
  /** It acted, and what it did was not taken back yet. */
  #stands = false;
  /** True once it has acted, false once it never will. */
  readonly #acted = Promise.withResolvers<boolean>();

  constructor(event: RunEvent, of: readonly Struck[], first: Struck) {
    this.of = of;
    this.shell = Shell.together(of);
    this.#event = event;
    this.#remedy = event.custom?.remedy ?? remedyOf(remedyNamed(first.scenario.remedy.kind));
    this.#first = first;
    const { kind } = first.scenario.remedy;
    this.#endsMachine = event.custom?.remedy === undefined && switchesOff(kind);
  }

  /** Whether the victim is off, or about to be: nothing can be asked of it until the heal. */
  get hasSwitchedOff(): boolean {
    return this.#hasSwitchedOff;
  }

  /** Before the heal, which may need a machine that runs. Idempotent, and nothing where it is on. */
  async switchOn(): Promise<void> {
    if (!this.#hasSwitchedOff) return;
    const { node } = this.#first.victim;
    const what = `the start of ${node}`;
    await this.shell.until('heal', { what }, () => this.#event.cluster.machine(node).start());
    this.#hasSwitchedOff = false;
  }

  /** Waits for its moment and acts, once; a moment that does not come by the deadline is a failed step. */
  apply(faultAtMs: number, deadlineMs: number): Promise<void> {
    return (this.#applying ??= this.#apply(faultAtMs, deadlineMs));
  }

  async #apply(faultAtMs: number, deadlineMs: number): Promise<void> {
    const { remedy, timers } = this.#first.scenario;
    const { cluster, signal } = this.#event;
    const sightings = this.of.map((run) => run.sightings);
    const watched = {
      clock: cluster.clock,
      sightings,
      faultAtMs,
      forceDetachAfterMs: timers.forceDetachAfter,
    };
    try {
      if (this.#remedy.name === 'none') return;
      const came = await cameForAll(remedy.at, watched, { deadlineMs, signal });
      const refusal = remedy.ifOff ? await this.#untilOff(came ? deadlineMs : 0) : undefined;
      if (refusal !== undefined) this.#step(refusal.step, refusal.why);
      else if (came) await this.#act(deadlineMs);
      else
        this.#step(
          'failed',
          `${whenInWords(remedy.at)} did not come within the horizon; ` +
            'raise --horizon, or set --remedy-at to an earlier moment',
        );
    } finally {
      this.#acted.resolve(this.#stands);
    }
  }

  /**
   * Asks as often as a cloud's node controller does, until the machine is off, or there is no more to give away:
   * another node has the volume, or the watch is over. Resolves to why nothing is to be done, if so.
   */
  async #untilOff(deadlineMs: number): Promise<Refusal | undefined> {
    const { cluster, signal } = this.#event;
    const { node } = this.#first.victim;
    for (;;) {
      const refusal = await cluster
        .machine(node)
        .state()
        .then<Refusal | undefined, Refusal>(
          (state) =>
            state === 'stopped'
              ? undefined
              : { step: 'refused', why: `the machine ${node} is ${state}` },
          (error: unknown) => ({ step: 'failed', why: describeError(error) }),
        );
      if (refusal === undefined) return undefined;
      const leftMs = deadlineMs - cluster.clock.nowMs();
      const isMoved = this.of.some(({ sightings }) => isSeen('second-mount', sightings));
      if (leftMs <= 0 || isMoved) return refusal;
      await cluster.clock.sleep(Math.min(kubernetesTimes.cloudLookUs / msUs, leftMs), signal);
    }
  }

  /** A call that does not return by the deadline is given up: the heal may be what it waits for. */
  async #act(deadlineMs: number): Promise<void> {
    const what = `remedy ${this.#remedy.name}`;
    this.#step('begin');
    this.shell.onProgress(`${what} begins`);
    this.#stands = true;
    this.#hasSwitchedOff = this.#endsMachine;
    try {
      const detail = await this.shell.until('ask-again', { what, deadlineMs }, (signal) =>
        this.#remedy.apply(this.#context(signal)),
      );
      this.#step('done', detail);
    } catch (error) {
      const step =
        error instanceof ForcedetachError && error.code === 'ADMISSION_REFUSED'
          ? 'refused'
          : 'failed';
      this.#step(step, describeError(error));
      this.shell.onProgress(`${what} ${step}: ${describeError(error)}`);
    }
  }

  /** Takes it back while the run is watched, where the scenario gives a time for that. */
  async goOn(moments: Moments): Promise<void> {
    const { remedy } = this.#first.scenario;
    if (typeof remedy.untaintAt !== 'number' || !(await this.#acted.promise)) return;
    if (await moments.passed(remedy.untaintAt)) await this.takeBack();
    else this.#step('failed', 'the watch was over before it was to be taken back');
  }

  /** Idempotent, and nothing where nothing was done. */
  async takeBack(): Promise<void> {
    const remedy = this.#remedy;
    if (!this.#stands || remedy.undo === undefined) return;
    this.#step('heal');
    const what = `the undo of remedy ${remedy.name}`;
    await this.shell.until('undo-remedy', { what }, async (signal) =>
      remedy.undo?.(this.#context(signal)),
    );
    this.#stands = false;
    this.#step('healed');
  }

  #context(signal: AbortSignal): Parameters<Remedy['apply']>[0] {
    const { victim, scenario } = this.#first;
    const statesProof = scenario.kubernetes.admission !== 'open';
    const volumes = this.of.map(({ volume }) => volume);
    const { cluster: testbed } = this.#event;
    const { name } = this.#remedy;
    return { name, statesProof, testbed, recorder: this.shell, victim, volumes, signal };
  }

  #step(step: ActionRecord['step'], detail?: string): void {
    const { node } = this.#first.victim;
    this.shell.record({
      ...{ type: 'action', actor: 'remedy', name: this.#remedy.name, step, node },
      ...(detail === undefined ? {} : { detail }),
    });
  }
}

/** What an operator does to the node meets all volumes there: it is done once. The rest is each one's own. */
export function remediesOf(event: RunEvent, struck: readonly Struck[]): readonly RemedyRun[] {
  const [first] = struck;
  const meetsAll =
    first !== undefined && ['node', 'path'].includes(actsOn(first.scenario.remedy.kind));
  return meetsAll
    ? [new RemedyRun(event, struck, first)]
    : struck.map((run) => new RemedyRun(event, [run], run));
}
