/** One schedule under way: the model, its client and commits, the trace of its notices, and virtual time that passes on demand. */
import {
  type PodObject,
  type Model,
  notices,
  type NoticeCode,
  type ModelServer,
  type Chance,
  clientTimeoutUs,
  msUs,
  secondUs,
  type Timer,
  type NodeMachine,
} from '../sim/index.ts';
import type { LedgerEntry } from '../history/index.ts';
import type { Scenario } from '../scenario/index.ts';
import { delayedOf, isSeen, type When } from '../core/index.ts';

/** What happened, when and on which node; -1 where it is about none. Three columns of one table. */
export interface Trace {
  readonly codes: readonly number[];
  readonly nodes: readonly number[];
  /** Virtual time, absolute. */
  readonly timesUs: readonly number[];
}

/**
 * What one schedule has shown so far: the trace of its notices, and of them what moments, remedies and the
 * judge ask for. The sweep's counterpart of the runner's sightings; it makes no records.
 */
export class TraceRecorder {
  readonly #codes: number[] = [];
  readonly #nodes: number[] = [];
  readonly #timesUs: number[] = [];
  readonly #model: Model;
  #victimPod: PodObject | undefined;
  #victim = -1;
  /** Nodes that have the volume mounted: a bit each. */
  #mounted = 0;
  victimNotReady = false;
  /** The victim's pod object is not there any more. */
  victimGone = false;
  /** The victim's attachment is being taken away, or is gone. */
  victimDetached = false;
  successorCreated = false;
  /** Number of the node whose pod became Ready last: a Service leads there. */
  readyOn = -1;
  /** When another node mounted the volume first after the fault. */
  secondMountAtUs: number | undefined;
  /** Another node mounted it while the victim had it mounted. */
  dualMount = false;
  /** Called once, at the second mount. */
  onSecondMount: (() => void) | undefined;

  constructor(model: Model) {
    this.#model = model;
    // Bound: see docs/internals/sweep.md, Speed.
    model.world.notice = this.#see.bind(this);
  }

  get trace(): Trace {
    return { codes: this.#codes, nodes: this.#nodes, timesUs: this.#timesUs };
  }

  /** Grows with each notice. */
  get changes(): number {
    return this.#codes.length;
  }

  get victimTerminating(): boolean {
    return this.#victimPod?.terminating === true;
  }

  get successorPending(): boolean {
    return this.successorCreated && this.secondMountAtUs === undefined;
  }

  get successorMounted(): boolean {
    return this.secondMountAtUs !== undefined;
  }

  get successorReady(): boolean {
    return this.successorMounted && this.readyOn !== this.#victim;
  }

  /** At most one node has the volume mounted. */
  get mountedOnce(): boolean {
    return (this.#mounted & (this.#mounted - 1)) === 0;
  }

  /** No node but the victim has it mounted. */
  get othersEmpty(): boolean {
    return (this.#mounted & ~(1 << this.#victim)) === 0;
  }

  /** From now on another node's mount is a second one. */
  begin(pod: PodObject, victim: number): void {
    this.#victimPod = pod;
    this.#victim = victim;
  }

  #see(notice: NoticeCode, node: number): void {
    const nowUs = this.#model.kernel.nowUs;
    this.#codes.push(notice);
    this.#nodes.push(node);
    this.#timesUs.push(nowUs);
    if (notice === notices.mounted) this.#mounted |= 1 << node;
    else if (notice === notices.unmounted) this.#mounted &= ~(1 << node);
    else if (notice === notices.podReady) this.readyOn = node;
    if (this.#victimPod !== undefined) this.#note(notice, node, nowUs, this.#victimPod);
  }

  #note(notice: NoticeCode, node: number, nowUs: number, victimPod: PodObject): void {
    const isVictims = node === this.#victim;
    if (notice === notices.nodeNotReady || notice === notices.nodeDeleted) {
      this.victimNotReady ||= isVictims;
    } else if (notice === notices.nodeReady) {
      if (isVictims) this.victimNotReady = false;
    } else if (notice === notices.podGone) {
      this.victimGone ||= !this.#model.api.pods.has(victimPod);
    } else if (notice === notices.podCreated) {
      this.successorCreated = true;
    } else if (notice === notices.attachmentDeleting || notice === notices.attachmentGone) {
      this.victimDetached ||= isVictims;
    } else if (notice === notices.mounted && !isVictims) {
      const isFirst = this.secondMountAtUs === undefined;
      this.secondMountAtUs ??= nowUs;
      if (isFirst) this.onSecondMount?.();
      this.dualMount ||= (this.#mounted & (1 << this.#victim)) !== 0;
    }
  }
}

/** What one copy of the volume had lost of what it must hold. */
export interface CopyLoss {
  /** Acknowledged commits. */
  readonly lost: number;
  /** No server starts on it, or only on a new, empty database. */
  readonly unreadable: boolean;
}

/** Row without what nobody reads of a sweep's: all but the number. */
const blank: Omit<LedgerEntry, 'seq'> = {
  ...{ client: 'sweep', connection: 0, session: 0, kind: 'append' },
  ...{ fromAccount: 0, toAccount: 0, amount: 0, previousHash: '', hash: '' },
};

/**
 * Commits of a schedule. A client asks every server that serves for one now and then, often around a
 * hand-over; a copy of the volume is asked which of the acknowledged ones it still has.
 */
export class Commits {
  readonly #model: Model;
  /** Its node; before the fault there is none. */
  victim: string | undefined;
  readonly #acked: { readonly seq: number; readonly atUs: number }[] = [];
  /** The database that the victim had. */
  readonly #made: number;
  readonly #inside: number;
  #seq = 0;
  /** Acknowledged by servers on other nodes than the victim. */
  bySuccessors = 0;

  /** Acknowledged by any of them. */
  get acked(): number {
    return this.#acked.length;
  }

  /** `inside`: number of the node where the database ran first. */
  constructor(model: Model, inside: number) {
    this.#model = model;
    this.#inside = inside;
    this.#made = model.volume.made;
  }

  /**
   * So many from each server that serves and that a client reaches: one keeps to the node where the database ran
   * first, without the network, the other to the one that it is Ready on.
   */
  ask(count: number, readyOn: number): void {
    for (const kubelet of this.#model.kubelets) {
      const { machine, node } = kubelet;
      if (node.index !== this.#inside && !(node.index === readyOn && machine.connected)) continue;
      const server = kubelet.container()?.server;
      if (server !== undefined) for (let n = 0; n < count; n++) this.#ask(server);
    }
  }

  #ask(server: ModelServer): void {
    const entry: LedgerEntry = { ...blank, seq: this.#seq++ };
    const askedAtUs = this.#model.kernel.nowUs;
    const { machine } = server;
    const send = (): void =>
      server.commit(entry, (done) => {
        // No client waits longer: what a frozen server or a stalled disk answers later reaches none.
        if (!done || this.#model.kernel.nowUs > askedAtUs + clientTimeoutUs) return;
        this.#acked.push({ seq: entry.seq, atUs: this.#model.kernel.nowUs });
        if (machine.name !== (this.victim ?? machine.name)) this.bySuccessors += 1;
      });
    // What reaches a machine that stands still waits in its buffers.
    if (machine.state === 'frozen') machine.after(0, send);
    else send();
  }

  /**
   * Loss that a copy of the volume would show now. What a living server need not have
   * flushed yet is not missed.
   */
  lossNow(): CopyLoss {
    const { volume, world, kernel } = this.#model;
    const heldBackMs = world.database.durability.heldBackMs(world.of(volume.index).database);
    const mustHoldUntilUs = kernel.nowUs - heldBackMs * msUs;
    const unreadable = volume.damage !== undefined || volume.blank || volume.made !== this.#made;
    const kept: boolean[] = [];
    for (const row of volume.rows) if (row !== undefined) kept[row.seq] = true;
    let lost = 0;
    for (const { seq, atUs } of this.#acked)
      if (atUs <= mustHoldUntilUs && (kept[seq] !== true || unreadable)) lost += 1;
    return { lost, unreadable };
  }
}

/**
 * The client of a schedule: rarely heard while nothing moves, at once at the hand-over, and often from
 * then on until a database serves for good. So a schedule has some hundred commits, whatever its rate is.
 * A database that holds commits back gets one every few seconds: what ends it may find one of them in memory.
 */
const beatUs = { calm: 30 * secondUs, busy: secondUs / 4 };
/** Drawn, so that they are no grid of which a scenario's times are multiples. */
const heldBackBeat = { minUs: 0, maxUs: 8 * secondUs };
/** So often a commit is under way when the fault strikes; seldom, where clients are not busy. */
const underWay = 1 / 2;
/** Its stream of chance, beside those of the control plane (lib/sim/control-plane.ts). */
const clientStream = 4;
/** A busy client commits so often while the successor recovers: enough to break that. */
const burst = { commits: 40, forUs: 6 * secondUs };
const busyRate = 100;

interface SweepClientOptions {
  readonly model: Model;
  readonly scenario: Scenario;
  readonly witness: TraceRecorder;
  readonly commits: Commits;
}

export class SweepClient {
  readonly #options: SweepClientOptions;
  readonly #isBusy: boolean;
  readonly #chance: Chance;
  readonly #holdsBack: boolean;
  readonly #beatAgain = (): void => this.#beat();
  #next: Timer | undefined;
  /** The schedule is over but for what may still come of it. */
  isSettled = false;

  constructor(options: SweepClientOptions) {
    this.#options = options;
    const { load, database } = options.scenario;
    this.#isBusy = load.rate === 'max' || load.rate >= busyRate;
    const { world } = options.model;
    this.#chance = world.chance.stream(clientStream);
    this.#holdsBack = !world.database.durability.keepsAll(database);
    if (load.rate === 0) return;
    // Else the victim is asked again up to 30 s into an overlap that may be shorter than that.
    options.witness.onSecondMount = this.#beatSoon.bind(this);
    this.#beat();
  }

  /** A commit is under way when the fault strikes, by chance, and one is sent right after that. */
  around<T>(strike: () => T): T {
    // One that is held back is so by chance.
    if (this.#holdsBack) return strike();
    if (this.#isBusy || this.#chance.float() < underWay) this.#beatSoon();
    const struck = strike();
    this.#beatSoon();
    return struck;
  }

  #beatSoon(): void {
    if (this.#next === undefined) return;
    const { kernel } = this.#options.model;
    kernel.cancel(this.#next);
    if (this.#holdsBack)
      this.#next = kernel.schedule(this.#chance.int(0, beatUs.busy), this.#beatAgain);
    else this.#beat();
  }

  #beat(): void {
    const { model, witness, commits } = this.#options;
    const { kernel } = model;
    const sinceUs = kernel.nowUs - (witness.secondMountAtUs ?? Infinity);
    commits.ask(
      this.#isBusy && sinceUs >= 0 && sinceUs < burst.forUs ? burst.commits : 1,
      witness.readyOn,
    );
    this.#next = kernel.schedule(this.#pauseUs(sinceUs), this.#beatAgain);
  }

  #pauseUs(sinceSecondMountUs: number): number {
    if (!this.isSettled && sinceSecondMountUs >= 0) return beatUs.busy;
    return this.#holdsBack ? this.#chance.within(heldBackBeat) : beatUs.calm;
  }
}

interface Trigger {
  readonly isDue: () => boolean;
  readonly act: () => void;
}

export interface Victim {
  readonly node: string;
  /** Its number in notices. */
  readonly index: number;
  /** The pod's. */
  readonly uid: string;
}

interface SceneOptions extends SweepClientOptions {
  readonly client: SweepClient;
  readonly victim: Victim;
}

export class Scene {
  readonly model: Model;
  readonly scenario: Scenario;
  readonly witness: TraceRecorder;
  readonly commits: Commits;
  readonly client: SweepClient;
  victim: Victim;
  /** No moment comes any more, and nothing is repeated. */
  #isWatchOver = false;
  /** When the fault began. */
  faultAtUs = Infinity;
  #triggers: Trigger[] = [];
  /** A timer of this scene rang: what waits for a time may be due. */
  #rang = false;
  /** Since when two nodes can write, and for how long two could before. */
  #twoWriteSinceUs: number | undefined;
  #twoWroteUs = 0;
  /** Since when the disk would take no write of the victim; undefined while it would. */
  fencedAtUs: number | undefined;

  constructor({ model, scenario, witness, commits, client, victim }: SceneOptions) {
    this.model = model;
    this.scenario = scenario;
    this.witness = witness;
    this.commits = commits;
    this.client = client;
    this.victim = victim;
  }

  /** The fault comes now, to the node that the pod is on. */
  begin(pod: PodObject, victim: Victim): void {
    this.victim = victim;
    this.faultAtUs = this.nowUs;
    this.commits.victim = victim.node;
    this.witness.begin(pod, victim.index);
  }

  get nowUs(): number {
    return this.model.kernel.nowUs;
  }

  /** How long two nodes could write so far. */
  get overlapUs(): number {
    return this.#twoWroteUs + (this.nowUs - (this.#twoWriteSinceUs ?? this.nowUs));
  }

  /** The victim's machine. */
  get machine(): NodeMachine {
    return this.model.machine(this.victim.node);
  }

  /**
   * Acts once, as soon as the moment has come, unless the watch is over before. Events are what they
   * are to the runner; at a time nothing happens that could be seen: a timer rings.
   */
  at(moment: When, act: () => void): void {
    const { witness, scenario, faultAtUs } = this;
    const { event, afterMs } = delayedOf(moment, {
      forceDetachAfterMs: scenario.timers.forceDetachAfter,
    });
    if (event === undefined) {
      this.during(faultAtUs + afterMs * msUs - this.nowUs, act);
      return;
    }
    const later = (): void => this.during(afterMs * msUs, act);
    this.#triggers.push({ isDue: () => isSeen(event, witness), act: afterMs === 0 ? act : later });
    this.#rang = true;
  }

  after(delayUs: number, act: () => void): void {
    this.model.kernel.schedule(delayUs, () => {
      this.#rang = true;
      act();
    });
  }

  /** As `after`, while the fault is watched. */
  during(delayUs: number, act: () => void): void {
    this.after(delayUs, () => {
      if (!this.#isWatchOver) act();
    });
  }

  /** What still waits for a moment never acts. */
  endWatch(): void {
    this.#isWatchOver = true;
    this.#triggers = [];
  }

  /** Lets time pass until then, or until it is over; false at the deadline. */
  advance(untilUs: number, isOver: () => boolean = never): boolean {
    const { kernel } = this.model;
    const deadline = { passed: false };
    const timer = kernel.schedule(untilUs - this.nowUs, () => {
      deadline.passed = true;
    });
    let seen = -1;
    for (;;) {
      if (this.witness.changes !== seen || this.#rang) {
        seen = this.witness.changes;
        this.#rang = false;
        this.#fire();
        this.#watchWriters();
        if (isOver()) {
          kernel.cancel(timer);
          return true;
        }
      }
      if (deadline.passed) return false;
      kernel.step();
    }
  }

  #fire(): void {
    for (const trigger of this.#triggers) {
      if (!trigger.isDue()) continue;
      this.#triggers = this.#triggers.filter((each) => each !== trigger);
      trigger.act();
    }
  }

  #watchWriters(): void {
    if (writes(this.model, this.victim.node)) this.fencedAtUs = undefined;
    else this.fencedAtUs ??= this.nowUs;
    if (twoWrite(this.model)) this.#twoWriteSinceUs ??= this.nowUs;
    else if (this.#twoWriteSinceUs !== undefined) {
      this.#twoWroteUs += this.nowUs - this.#twoWriteSinceUs;
      this.#twoWriteSinceUs = undefined;
    }
  }
}

const never = (): boolean => false;

/** The disk would take writes of this node. */
function writes({ volume }: Model, node: string): boolean {
  for (const path of volume.paths) if (path.writes && path.node === node) return true;
  return false;
}

/** The disk would take writes of two nodes. One that stands still comes back. */
function twoWrite({ volume }: Model): boolean {
  // Locks that all nodes share let one server in at a time.
  if (volume.files === 'shared') return false;
  let first: string | undefined;
  for (const path of volume.paths) {
    if (!path.writes || path.node === first) continue;
    if (first !== undefined) return true;
    first = path.node;
  }
  return false;
}
