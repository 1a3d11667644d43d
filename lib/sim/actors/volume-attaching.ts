/**
 * What the attach/detach controller does about one volume. A pod that exists keeps its volume
 * attached, Terminating or not, for as long as its kubelet last reported a running container: eviction
 * alone never starts the six-minute wait (util.IsPodTerminated, #65392). The wait runs from the moment
 * a detach is wanted, and forces it only on a node that is not Ready. A node whose detach failed no
 * longer counts against a second attachment (#120595), and neither does any where the volume is
 * declared ReadWriteMany (util.IsMultiAttachAllowed).
 */
import { outOfServiceKey } from '../../core/index.ts';
import type { ForceReason } from '../../judge/index.ts';
import {
  hasTaint,
  isTerminated,
  listedReady,
  type NodeObject,
  type PodObject,
} from '../api-objects.ts';
import { notices, type NoticeCode } from '../notices.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import { Controller, type ControllerContext } from './controller.ts';
import { Operations, type VolumeOperation } from './volume-operations.ts';

/**
 * Where the controller thinks that the volume is attached (its actual state of the world): for sure,
 * or uncertain (adc/cache/actual_state_of_world.go attachedConfirmed).
 */
interface AttachedNode {
  readonly node: NodeObject;
  /** It counts against other nodes. */
  confirmed: boolean;
  /** Since when a detach is wanted. */
  awaySinceUs: number | undefined;
}

/** What the controller has for all volumes. */
export interface AllVolumes {
  /** The first pass at or after a time. */
  nextPassUs(atUs: number): number;
  nextSyncUs(atUs: number): number;
  /** Where a node comes in the pass of now: only the order counts. */
  placeOf(node: NodeObject): number;
  sayForced(reason: ForceReason, node: NodeObject, volume: number): void;
}

type BoundPod = PodObject & { readonly node: NodeObject };
const controller = 'attachdetach-controller';

export class VolumeAttaching extends Controller {
  readonly index: number;
  readonly #all: AllVolumes;
  readonly #attached: AttachedNode[] = [];
  readonly #operations: Operations;
  /** Nodes that it manages: a pod on one that it never saw is left alone (ProcessPodVolumes). */
  readonly #known = this.api.nodes.map(({ exists }) => exists);
  #passAtUs = Number.POSITIVE_INFINITY;
  #syncDue = false;
  #multiAttachSaidFor: PodObject | undefined;

  /** `index`: the volume's number. */
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
