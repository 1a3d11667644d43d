/** The attach/detach controller: what it does about one volume, its operations, and one grid of passes for all volumes. */
import { outOfServiceKey } from '../../core/index.ts';
import { observed } from '../../history/index.ts';
import type { ForceReason } from '../../judge/index.ts';
import { Controller, type ControllerContext } from './controllers.ts';
import { BackOff } from '../kernel.ts';
import {
  type AttachmentObject,
  type NodeObject,
  hasTaint,
  isTerminated,
  listedReady,
  type PodObject,
  notices,
  type NoticeCode,
  type ApiWatcher,
} from '../sightings.ts';
import { kubernetesTimes, measuredTimes, secondUs } from '../timings.ts';
import { onGrid } from '../world.ts';

type OperationName = 'attach' | 'detach';
type PollState = 'done' | 'failed' | 'waiting';

interface VolumeOperation {
  readonly name: OperationName;
  /** By node, or one for all where the volume is for one. */
  readonly key: number;
  readonly backOff: BackOff;
  pending: boolean;
  retryAtUs: number;
}

/** Reads it as csi_attacher.go verifyAttachmentStatus does. */
const states: Readonly<
  Record<OperationName, (attachment: AttachmentObject | undefined) => PollState>
> = {
  attach(attachment) {
    if (attachment === undefined || attachment.deleting || attachment.attachError !== undefined)
      return 'failed';
    return attachment.attached ? 'done' : 'waiting';
  },
  detach(attachment) {
    if (attachment === undefined) return 'done';
    return attachment.detachError !== undefined ? 'failed' : 'waiting';
  },
};

/**
 * The attach/detach controller's operations on one volume: one at a time, or one a node where it is
 * declared for many; one that failed is not begun again before its back-off is over, except by another
 * kind of operation (nestedpendingoperations.go Run).
 */
export class Operations extends Controller {
  readonly #volume: number;
  readonly #look: (atUs: number) => void;
  readonly #all = new Map<number, VolumeOperation>();

  /** `look`: a pass at that time may find work. */
  constructor(context: ControllerContext, volume: number, look: (atUs: number) => void) {
    super(context);
    this.#volume = volume;
    this.#look = look;
  }

  isPending(node: NodeObject): boolean {
    return this.#all.get(this.#key(node))?.pending === true;
  }

  mayStart(name: OperationName, node: NodeObject): boolean {
    const last = this.#all.get(this.#key(node));
    if (last === undefined) return true;
    if (last.pending) return false;
    if (last.name !== name || this.nowUs >= last.retryAtUs) return true;
    this.#look(last.retryAtUs);
    return false;
  }

  start(name: OperationName, node: NodeObject): VolumeOperation {
    const key = this.#key(node);
    const last = this.#all.get(key);
    const backOff = last?.name === name ? last.backOff : new BackOff(kubernetesTimes.volumeBackOff);
    const operation = { name, key, backOff, pending: true, retryAtUs: 0 };
    this.#all.set(key, operation);
    return operation;
  }

  #key({ index }: NodeObject): number {
    return this.world.of(this.#volume).forMany ? index : -1;
  }

  end(operation: VolumeOperation, isDone: boolean): void {
    operation.pending = false;
    if (isDone) this.#all.delete(operation.key);
    else operation.retryAtUs = this.nowUs + operation.backOff.next();
    this.#look(this.nowUs);
  }

  /** Looks at the attachment's status as csi_attacher.go does; `then` comes before the operation ends. */
  poll(operation: VolumeOperation, node: NodeObject, then: (isDone: boolean) => void): void {
    const { attachmentPollUs, attachmentPollGrowth, attachmentPollJitter } = kubernetesTimes;
    const { attachmentPollMaxUs, csiTimeoutUs } = kubernetesTimes;
    const endUs = this.nowUs + csiTimeoutUs;
    const again = (intervalUs: number): void => {
      const jitter = 1 + this.chance.float() * attachmentPollJitter;
      this.process.after(intervalUs * jitter, () => {
        const attachment = this.api.attachment(this.#volume, node);
        const state = this.nowUs < endUs ? states[operation.name](attachment) : 'failed';
        if (state === 'waiting') {
          again(Math.min(attachmentPollMaxUs, intervalUs * attachmentPollGrowth));
          return;
        }
        then(state === 'done');
        this.end(operation, state === 'done');
      });
    };
    again(attachmentPollUs);
  }
}

/**
 * Where the controller thinks that the volume is attached (its actual state of the world): for sure,
 * or uncertain (adc/cache/actual_state_of_world.go attachedConfirmed).
 */
interface AttachedNode {
  readonly node: NodeObject;
  /** It counts against other nodes. */
  confirmed: boolean;
  awaySinceUs: number | undefined;
}

interface AllVolumes {
  /** The first pass at or after a time. */
  nextPassUs(atUs: number): number;
  nextSyncUs(atUs: number): number;
  /** Where a node comes in the pass of now: only the order counts. */
  placeOf(node: NodeObject): number;
  sayForced(reason: ForceReason, node: NodeObject, volume: number): void;
}

type BoundPod = PodObject & { readonly node: NodeObject };
const controller = 'attachdetach-controller';

/**
 * What the attach/detach controller does about one volume. A pod that exists keeps its volume
 * attached, Terminating or not, for as long as its kubelet last reported a running container: eviction
 * alone never starts the six-minute wait (util.IsPodTerminated, #65392). The wait runs from the moment
 * a detach is wanted, and forces it only on a node that is not Ready. A node whose detach failed no
 * longer counts against a second attachment (#120595), and neither does any where the volume is
 * declared ReadWriteMany (util.IsMultiAttachAllowed).
 */
class VolumeAttaching extends Controller {
  readonly index: number;
  readonly #all: AllVolumes;
  readonly #attached: AttachedNode[] = [];
  readonly #operations: Operations;
  /** Nodes that it manages: a pod on one that it never saw is left alone (ProcessPodVolumes). */
  readonly #known = this.api.nodes.map(({ exists }) => exists);
  #passAtUs = Number.POSITIVE_INFINITY;
  #syncDue = false;
  #multiAttachSaidFor: PodObject | undefined;

  constructor(context: ControllerContext, index: number, all: AllVolumes) {
    super(context);
    this.index = index;
    this.#all = all;
    this.#operations = new Operations(context, index, (atUs) => this.#passFrom(atUs));
  }

  /** A new leader finds it on a node, or an attach ended. What is there already stays as it is. */
  found(node: NodeObject, confirmed: boolean): AttachedNode {
    const known = this.#on(node);
    if (known !== undefined) return known;
    const attached: AttachedNode = { node, confirmed: true, awaySinceUs: undefined };
    this.#attached.push(attached);
    if (!confirmed) this.#setUncertain(attached);
    return attached;
  }

  #on(node: NodeObject): AttachedNode | undefined {
    for (const attached of this.#attached) if (attached.node === node) return attached;
    return undefined;
  }

  #setUncertain(attached: AttachedNode): void {
    attached.confirmed = false;
    this.#notice(notices.uncertain, attached.node);
  }

  #forget(attached: AttachedNode): void {
    const at = this.#attached.indexOf(attached);
    if (at >= 0) this.#attached.splice(at, 1);
  }

  /** Something changed, as the controller sees so much later. */
  nudge(delayUs: number): void {
    if (this.world.of(this.index).attachable) this.#passFrom(this.nowUs + delayUs);
  }

  concerns(node: NodeObject): boolean {
    return this.#on(node) !== undefined || this.#known[node.index] !== node.exists;
  }

  nodeChanged(node: NodeObject): void {
    this.#known[node.index] = node.exists || this.#wants(node);
    // A node that registered anew is to list again what is attached to it (nodeAdd).
    const attached = this.#on(node);
    const isStaying = attached?.confirmed === true && attached.awaySinceUs === undefined;
    if (node.exists && isStaying) this.api.setAttached(node, this.index, true);
  }

  /** One that goes without the controller's doing is missed by the next sync. */
  attachmentChanged(): void {
    if (this.#syncDue || !this.#attached.some((attached) => this.#isMissing(attached))) return;
    this.#syncDue = true;
    this.at(this.#all.nextSyncUs(this.nowUs + 1), () => {
      this.#syncDue = false;
      this.#sync();
    });
  }

  /** VerifyVolumesAreAttached: what has no VolumeAttachment counts as detached. */
  #sync(): void {
    for (const attached of this.#attached.filter((each) => this.#isMissing(each))) {
      this.#notice(notices.attachmentMissed, attached.node);
      this.api.setAttached(attached.node, this.index, false);
      this.#forget(attached);
    }
    this.#passFrom(this.nowUs);
  }

  #isMissing({ node, confirmed }: AttachedNode): boolean {
    return (
      confirmed &&
      !this.#operations.isPending(node) &&
      this.api.attachment(this.index, node)?.attached !== true
    );
  }

  #passFrom(atUs: number): void {
    const dueUs = this.#all.nextPassUs(atUs);
    if (dueUs >= this.#passAtUs) return;
    this.#passAtUs = dueUs;
    this.at(dueUs, () => {
      if (this.#passAtUs !== dueUs) return;
      this.#passAtUs = Number.POSITIVE_INFINITY;
      this.#pass();
    });
  }

  /** Detaches come first, so that a volume that moves is free. */
  #pass(): void {
    for (const attached of this.#attached) {
      if (this.#wants(attached.node)) this.#keep(attached);
      else if (this.#operations.mayStart('detach', attached.node)) this.#considerDetach(attached);
    }
    for (const pod of this.#inOrder()) this.#considerAttach(pod);
  }

  #inOrder(): Iterable<PodObject> {
    const pods = this.api.podsOf(this.index);
    if (pods.size < 2) return pods;
    const waiting = [...pods]
      .filter((pod) => this.#lacksIt(pod))
      .filter((pod) => this.#mayHaveIt(pod));
    if (waiting.length < 2) return pods;
    return waiting.toSorted(
      (one, other) => this.#all.placeOf(one.node) - this.#all.placeOf(other.node),
    );
  }

  #lacksIt(pod: PodObject): pod is BoundPod {
    const { node } = pod;
    if (node === undefined || !this.#isActive(pod)) return false;
    if (this.#on(node)?.confirmed === true) return false;
    return this.#operations.mayStart('attach', node);
  }

  /** No other node has it for sure, or it is for many. */
  #mayHaveIt({ node }: BoundPod): boolean {
    const isElsewhere = this.#attached.some((each) => each.confirmed && each.node !== node);
    return !isElsewhere || this.world.of(this.index).forMany;
  }

  /** A pod wants the volume there (the desired state of the world). */
  #wants(node: NodeObject): boolean {
    for (const pod of this.api.podsOf(this.index))
      if (pod.node === node && this.#isActive(pod)) return true;
    return false;
  }

  #isActive(pod: PodObject): boolean {
    return pod.node !== undefined && this.#known[pod.node.index] === true && !isTerminated(pod);
  }

  #keep(attached: AttachedNode): void {
    if (attached.awaySinceUs === undefined) return;
    attached.awaySinceUs = undefined;
    this.#notice(notices.detachUnwanted, attached.node);
  }

  #considerDetach(attached: AttachedNode): void {
    const { settings } = this.world;
    const { node } = attached;
    if (attached.awaySinceUs === undefined) this.#notice(notices.detachWanted, node);
    attached.awaySinceUs ??= this.nowUs;
    const waitedUs = this.nowUs - attached.awaySinceUs;
    const expired = settings.forceDetach === 'on' && waitedUs > settings.forceDetachAfterUs;
    const ready = listedReady(node, this.nowUs, this.chance.within(measuredTimes.watchDelay));
    if (ready !== node.ready) this.#passFrom(this.nowUs + kubernetesTimes.attachDetachPassUs);
    const force = expired && (ready !== 'True' || !node.exists);
    const isOut = node.exists && hasTaint(node, outOfServiceKey);
    if (node.inUse.has(this.index) && !force && !isOut) {
      // Without the forced detach nothing but a change of the API brings it back.
      const leftUs = settings.forceDetachAfterUs - waitedUs;
      if (leftUs >= 0) this.#passFrom(this.nowUs + leftUs + 1);
      return;
    }
    const taint = isOut ? 'out-of-service' : undefined;
    this.#detach(attached, expired ? 'timeout' : taint);
  }

  /** The node's list first, then a live look at what is in use unless forced, then the object. */
  #detach(attached: AttachedNode, forced: ForceReason | undefined): void {
    const { node } = attached;
    const operation = this.#operations.start('detach', node);
    this.after(measuredTimes.apiCall, () => {
      this.api.setAttached(node, this.index, false);
      if (forced === undefined) this.#notice(notices.detachBegan, node);
      else this.#all.sayForced(forced, node, this.index);
      if (forced === undefined && node.exists && node.inUse.has(this.index)) {
        this.api.setAttached(node, this.index, true);
        this.#notice(notices.detachPutOff, node);
        this.#operations.end(operation, false);
        return;
      }
      this.after(measuredTimes.beforeDetach, () => {
        const attachment = this.api.attachment(this.index, node);
        if (attachment !== undefined) this.api.deleteAttachment(attachment);
        this.#awaitDetach(attached, operation);
      });
    });
  }

  #awaitDetach(attached: AttachedNode, operation: VolumeOperation): void {
    this.#operations.poll(operation, attached.node, (isDone) => {
      if (isDone) this.#forget(attached);
      else if (this.world.settings.traits.uncertainAfterError) this.#setUncertain(attached);
      else this.api.setAttached(attached.node, this.index, true);
    });
  }

  #considerAttach(pod: PodObject): void {
    if (!this.#lacksIt(pod)) return;
    if (this.#mayHaveIt(pod)) return this.#attach(pod);
    if (this.#multiAttachSaidFor === pod) return;
    this.#multiAttachSaidFor = pod;
    this.#notice(notices.multiAttach, pod.node);
    const message = `${this.world.settings.traits.attachGateText} for volume: already used elsewhere`;
    this.api.event(pod, controller, 'FailedAttachVolume', message);
  }

  #attach(pod: BoundPod): void {
    const { node } = pod;
    const operation = this.#operations.start('attach', node);
    if (this.api.attachment(this.index, node) === undefined)
      this.api.createAttachment(this.index, node);
    this.#operations.poll(operation, node, (isDone) => {
      const attached = this.found(node, isDone);
      attached.confirmed = isDone;
      if (!isDone) {
        const message = 'AttachVolume.Attach failed for volume: the driver refused it';
        this.api.event(pod, controller, 'FailedAttachVolume', message);
        return;
      }
      attached.awaySinceUs = undefined;
      this.api.setAttached(node, this.index, true);
    });
  }

  #notice(notice: NoticeCode, node: NodeObject): void {
    this.world.notice(notice, node.index, this.index);
  }
}

/**
 * The attach/detach controller: one grid of passes for all volumes, of which only those are made that
 * may find work (attach_detach_controller.go, adc/reconciler/reconciler.go). A new leader knows what
 * the API shows: what nodes list is attached for sure, what only a VolumeAttachment shows is uncertain
 * (processVolumeAttachments), and every wait begins anew.
 */
export class AttachDetach extends Controller implements ApiWatcher, AllVolumes {
  readonly #passPhaseUs = this.gridPhaseUs(kubernetesTimes.attachDetachPassUs);
  readonly #syncPhaseUs = this.gridPhaseUs(kubernetesTimes.attachDetachSyncUs);
  readonly #starts = this.chance.stream(0);
  readonly #hashes = this.chance.stream(1);
  #start = 0;
  #startDrawnAtUs = -1;
  readonly #volumes: VolumeAttaching[];
  readonly #forced: Record<ForceReason, number> = { timeout: 0, 'out-of-service': 0 };

  constructor(context: ControllerContext, volumes: number) {
    super(context);
    this.#volumes = Array.from(
      { length: volumes },
      (_, index) => new VolumeAttaching(context, index, this),
    );
    for (const node of this.api.nodes)
      for (const volume of node.attached) this.#volumes[volume]?.found(node, true);
    for (const { volume, node } of this.api.attachments) this.#volumes[volume]?.found(node, false);
    for (const { index } of this.#volumes) this.#nudge(index);
  }

  pod({ workload }: PodObject): void {
    this.#nudge(workload);
  }

  attachment({ volume }: AttachmentObject): void {
    this.#volumes[volume]?.attachmentChanged();
    this.#nudge(volume);
  }

  node(node: NodeObject): void {
    for (const volume of this.#volumes) {
      if (!volume.concerns(node)) continue;
      volume.nodeChanged(node);
      this.#nudge(volume.index);
    }
  }

  #nudge(volume: number): void {
    this.#volumes[volume]?.nudge(this.chance.within(measuredTimes.watchDelay));
  }

  nextPassUs(atUs: number): number {
    return onGrid(atUs, this.#passPhaseUs, kubernetesTimes.attachDetachPassUs);
  }

  nextSyncUs(atUs: number): number {
    return onGrid(atUs, this.#syncPhaseUs, kubernetesTimes.attachDetachSyncUs);
  }

  /**
   * The order in which a pass meets the nodes: GetVolumesToAttach ranges over a Go map
   * (adc/cache/desired_state_of_world.go). Up to 8 keys lie as they were inserted and are read in a circle
   * from a random slot; the places of more come from a hash (internal/runtime/maps Iter.Next, go1.26). It is
   * drawn once a pass, and for passes alone whose order counts.
   */
  placeOf({ index }: NodeObject): number {
    if (this.#startDrawnAtUs !== this.nowUs) this.#start = this.#starts.float();
    this.#startDrawnAtUs = this.nowUs;
    if (this.api.nodes.length + controlPlaneNodes > groupSlots)
      return (this.#hashes.at(index) - this.#start + 1) % 1;
    return (index - Math.floor(this.#start * groupSlots) + groupSlots) % groupSlots;
  }

  /** Says it as reconciler.go does, also where nothing was mounted any more: each detach unverified counts. */
  sayForced(reason: ForceReason, { name: node, index }: NodeObject, volume: number): void {
    const { see, settings } = this.world;
    this.#forced[reason] += 1;
    const isTimeout = reason === 'timeout';
    this.world.notice(isTimeout ? notices.forcedByTimeout : notices.forcedByTaint, index, -1);
    if (see === undefined) return;
    const why = isTimeout
      ? 'this volume is not safe to detach, but maxWaitForUnmountDuration expired, force ' +
        `detaching duration="${settings.forceDetachAfterUs / secondUs}s"`
      : 'node has out-of-service taint, force detaching';
    const line = `attacherDetacher.DetachVolume started: ${why} node="${node}" (model)`;
    const source = 'controller-manager';
    see({ source, name: observed.forceDetachLog, node, volume, data: { line } });
    see({ source, name: observed.forceDetachMetric, data: { ...this.#forced } });
  }
}

/** The model has no object for it; the controller's map has. */
const controlPlaneNodes = 1;
/** Keys that a Go map keeps in one group (internal/abi MapGroupSlots, before Go 1.24 bucketCnt). */
const groupSlots = 8;
