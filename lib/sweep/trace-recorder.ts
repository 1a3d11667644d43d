/**
 * What one schedule has shown so far: the trace of its notices, and of them what moments, remedies
 * and the judge ask for. The sweep's counterpart of the runner's sightings; it makes no records, so that
 * the table of milestones tells it nothing.
 */
import { type PodObject, type Model, notices, type NoticeCode } from '../sim/index.ts';

/** What happened, when and on which node; -1 where it is about none. Three columns of one table. */
export interface Trace {
  readonly codes: readonly number[];
  readonly nodes: readonly number[];
  /** Virtual time, absolute. */
  readonly timesUs: readonly number[];
}

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
  /** When another node was attached, and when it mounted the volume, first after the fault. */
  secondAttachAtUs: number | undefined;
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
    } else if (notice === notices.attachmentAttached) {
      if (!isVictims) this.secondAttachAtUs ??= nowUs;
    } else if (notice === notices.mounted && !isVictims) {
      const isFirst = this.secondMountAtUs === undefined;
      this.secondMountAtUs ??= nowUs;
      if (isFirst) this.onSecondMount?.();
      this.dualMount ||= (this.#mounted & (1 << this.#victim)) !== 0;
    }
  }
}
