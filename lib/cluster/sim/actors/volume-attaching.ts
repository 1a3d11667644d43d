/**
 * What the attach/detach controller does about one volume. A pod that exists keeps its volume
 * attached, Terminating or not, for as long as its kubelet last reported a running container: eviction
 * alone never starts the six-minute wait (util.IsPodTerminated, #65392). The wait runs from the moment
 * a detach is wanted, and forces it only on a node that is not Ready. A node whose detach failed no
 * longer counts against a second attachment (#120595), and neither does any where the volume is
 * declared ReadWriteMany (util.IsMultiAttachAllowed).
 */
import { outOfServiceKey } from '../../../taints.ts';
import {
  hasTaint,
  isTerminated,
  listedReady,
  type NodeObject,
  type PodObject,
} from '../api-objects.ts';
import type { ForceReason } from '../../../timeline/forced-detaches.ts';
import { notices, type NoticeCode } from '../notices.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import { AttachedNodes, type AttachedNode } from './attached-nodes.ts';
import type { ControllerContext } from './controller.ts';
import { attachState, detachState, Operations, type VolumeOperation } from './volume-operations.ts';

export interface VolumeAttachingOptions extends ControllerContext {
  /** The volume's number. */
  readonly index: number;
  /** The first pass, or sync, at or after a time. */
  readonly nextPassUs: (atUs: number) => number;
  readonly nextSyncUs: (atUs: number) => number;
  /** Where a node comes in the pass of now: only the order counts. */
  readonly placeOf: (node: NodeObject) => number;
  readonly sayForced: (reason: ForceReason, node: NodeObject, volume: number) => void;
}

type BoundPod = PodObject & { readonly node: NodeObject };

export class VolumeAttaching {
  readonly index: number;
  readonly #options: VolumeAttachingOptions;
  readonly #attached: AttachedNodes;
  readonly #operations: Operations;
  /** Nodes that it manages: a pod on one that it never saw is left alone (ProcessPodVolumes). */
  readonly #known: boolean[];
  #passAtUs = Number.POSITIVE_INFINITY;
  #syncDue = false;
  #multiAttachSaidFor: PodObject | undefined;

  constructor(options: VolumeAttachingOptions) {
    this.#options = options;
    this.index = options.index;
    this.#attached = new AttachedNodes(options.world, options.index);
    this.#operations = new Operations(options, this.index, (atUs) => this.#passFrom(atUs));
    this.#known = options.world.api.nodes.map(({ exists }) => exists);
  }

  /** A new leader finds it on a node. */
  found(node: NodeObject, confirmed: boolean): void {
    this.#attached.add(node, confirmed);
  }

  /** Something changed, as the controller sees so much later. */
  nudge(delayUs: number): void {
    if (!this.#options.world.of(this.index).attachable) return;
    this.#passFrom(this.#options.world.kernel.nowUs + delayUs);
  }

  concerns(node: NodeObject): boolean {
    if (this.#attached.on(node) !== undefined) return true;
    return this.#known[node.index] !== node.exists;
  }

  nodeChanged(node: NodeObject): void {
    const { api } = this.#options.world;
    this.#known[node.index] = node.exists || this.#wants(node);
    // A node that registered anew is told again what is attached to it (nodeAdd).
    const attached = this.#attached.on(node);
    const isStaying = attached?.confirmed === true && attached.awaySinceUs === undefined;
    if (node.exists && isStaying) api.setAttached(node, this.index, true);
  }

  /** One that goes without the controller's doing is missed by the next sync. */
  attachmentChanged(): void {
    if (this.#syncDue || ![...this.#attached].some((attached) => this.#isMissing(attached))) return;
    this.#syncDue = true;
    const { world, process, nextSyncUs } = this.#options;
    const { nowUs } = world.kernel;
    process.after(nextSyncUs(nowUs + 1) - nowUs, () => {
      this.#syncDue = false;
      this.#sync();
    });
  }

  /** VerifyVolumesAreAttached: what has no VolumeAttachment counts as detached. */
  #sync(): void {
    const { world } = this.#options;
    for (const attached of [...this.#attached].filter((each) => this.#isMissing(each))) {
      this.#notice(notices.attachmentMissed, attached.node);
      world.api.setAttached(attached.node, this.index, false);
      this.#attached.remove(attached);
    }
    this.#passFrom(world.kernel.nowUs);
  }

  #isMissing({ node, confirmed }: AttachedNode): boolean {
    return (
      confirmed &&
      !this.#operations.isPending(node) &&
      this.#options.world.api.attachment(this.index, node)?.attached !== true
    );
  }

  #passFrom(atUs: number): void {
    const dueUs = this.#options.nextPassUs(atUs);
    if (dueUs < this.#passAtUs) this.#planPass(dueUs);
  }

  #planPass(dueUs: number): void {
    const { world, process } = this.#options;
    this.#passAtUs = dueUs;
    process.after(dueUs - world.kernel.nowUs, () => {
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
    const { world, placeOf } = this.#options;
    const pods = world.api.podsOf(this.index);
    if (pods.size < 2) return pods;
    const waiting = [...pods]
      .filter((pod) => this.#lacksIt(pod))
      .filter((pod) => this.#mayHaveIt(pod));
    if (waiting.length < 2) return pods;
    return waiting.toSorted((one, other) => placeOf(one.node) - placeOf(other.node));
  }

  #lacksIt(pod: PodObject): pod is BoundPod {
    const { node } = pod;
    if (node === undefined || !this.#isActive(pod)) return false;
    if (this.#attached.on(node)?.confirmed === true) return false;
    return this.#operations.mayStart('attach', node);
  }

  #mayHaveIt({ node }: BoundPod): boolean {
    return !this.#attached.isElsewhere(node) || this.#options.world.of(this.index).forMany;
  }

  /** A pod wants the volume there (the desired state of the world). */
  #wants(node: NodeObject): boolean {
    for (const pod of this.#options.world.api.podsOf(this.index))
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
    const { world, chance } = this.#options;
    const { kernel, settings } = world;
    const { node } = attached;
    if (attached.awaySinceUs === undefined) this.#notice(notices.detachWanted, node);
    attached.awaySinceUs ??= kernel.nowUs;
    const waitedUs = kernel.nowUs - attached.awaySinceUs;
    const expired = settings.forceDetach === 'on' && waitedUs > settings.forceDetachAfterUs;
    const ready = listedReady(node, kernel.nowUs, chance.within(measuredTimes.watchDelay));
    if (ready !== node.ready) this.#passFrom(kernel.nowUs + kubernetesTimes.attachDetachPassUs);
    const force = expired && (ready !== 'True' || !node.exists);
    const isOut = node.exists && hasTaint(node, outOfServiceKey);
    if (node.inUse.has(this.index) && !force && !isOut) {
      // Without the forced detach nothing but a change of the API brings it back.
      const leftUs = settings.forceDetachAfterUs - waitedUs;
      if (leftUs >= 0) this.#passFrom(kernel.nowUs + leftUs + 1);
      return;
    }
    const taint = isOut ? 'out-of-service' : undefined;
    this.#detach(attached, expired ? 'timeout' : taint);
  }

  /** The node's list first, then a live look at what is in use unless forced, then the object. */
  #detach(attached: AttachedNode, forced: ForceReason | undefined): void {
    const { world, process, chance, sayForced } = this.#options;
    const { api } = world;
    const { node } = attached;
    const operation = this.#operations.start('detach', node);
    process.after(chance.within(measuredTimes.apiCall), () => {
      api.setAttached(node, this.index, false);
      if (forced === undefined) this.#notice(notices.detachBegan, node);
      else sayForced(forced, node, this.index);
      if (forced === undefined && node.exists && node.inUse.has(this.index)) {
        api.setAttached(node, this.index, true);
        this.#notice(notices.detachPutOff, node);
        operation.fail();
        return;
      }
      process.after(chance.within(measuredTimes.beforeDetach), () => {
        const attachment = api.attachment(this.index, node);
        if (attachment !== undefined) api.deleteAttachment(attachment);
        this.#awaitDetach(attached, operation);
      });
    });
  }

  #awaitDetach(attached: AttachedNode, operation: VolumeOperation): void {
    const { world } = this.#options;
    const { node } = attached;
    operation.poll(
      () => detachState(world.api.attachment(this.index, node)),
      (isDone) => {
        if (isDone) this.#attached.remove(attached);
        else if (world.settings.traits.uncertainAfterError) this.#attached.setUncertain(attached);
        else world.api.setAttached(node, this.index, true);
      },
    );
  }

  #considerAttach(pod: PodObject): void {
    if (!this.#lacksIt(pod)) return;
    const { node } = pod;
    const { api, settings } = this.#options.world;
    if (this.#mayHaveIt(pod)) {
      this.#attach(node, pod);
      return;
    }
    if (this.#multiAttachSaidFor === pod) return;
    this.#multiAttachSaidFor = pod;
    this.#notice(notices.multiAttach, node);
    const { attachGateText } = settings.traits;
    const message = `${attachGateText} for volume: already used elsewhere`;
    api.event(pod, 'attachdetach-controller', 'FailedAttachVolume', message);
  }

  #attach(node: NodeObject, pod: PodObject): void {
    const { api } = this.#options.world;
    const operation = this.#operations.start('attach', node);
    if (api.attachment(this.index, node) === undefined) api.createAttachment(this.index, node);
    operation.poll(
      () => attachState(api.attachment(this.index, node)),
      (isDone) => {
        const attached = this.#attached.add(node, isDone);
        attached.confirmed = isDone;
        if (!isDone) {
          const message = 'AttachVolume.Attach failed for volume: the driver refused it';
          api.event(pod, 'attachdetach-controller', 'FailedAttachVolume', message);
          return;
        }
        attached.awaySinceUs = undefined;
        api.setAttached(node, this.index, true);
      },
    );
  }

  #notice(notice: NoticeCode, node: NodeObject): void {
    this.#options.world.notice(notice, node.index, this.index);
  }
}
