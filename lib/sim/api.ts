/**
 * The Kubernetes API of the model: a store of the few objects that matter. Every change reaches
 * observers at once, and those whom it concerns, who act in their own time.
 */
import { observed } from '../history/index.ts';
import {
  type ApiWatcher,
  type AttachmentObject,
  type NodeObject,
  type PodObject,
  type Ready,
  type Taint,
  isOver,
  notices,
  type NoticeCode,
  ofAttachment,
  ofNode,
  ofPod,
  type Lookout,
  type Sighting,
} from './sightings.ts';

const podNameOf = (app: string, workload: number, suffix: number): string =>
  `${app}${workload === 0 ? '' : workload}-${suffix}`;

const none: readonly AttachmentObject[] = [];

export class Api {
  readonly nodes: NodeObject[] = [];
  /** Live pod objects of all workloads, the oldest first. */
  readonly pods = new Set<PodObject>();
  /** Each hears of every object. */
  watchers: readonly ApiWatcher[] = [];
  readonly #world: Lookout;
  /** By node: its kubelet, which hears of the pods that are bound to it, and of its attachments. */
  readonly #kubelets: ApiWatcher[] = [];
  readonly #podsOf: Set<PodObject>[] = [];
  /** By volume: few, one a node. */
  readonly #attachmentsOf: AttachmentObject[][] = [];
  /** By workload: how often its template was changed. */
  readonly #revisions: number[] = [];
  #made = 0;

  constructor(world: Lookout) {
    this.#world = world;
  }

  watch(...watchers: readonly ApiWatcher[]): void {
    this.watchers = [...this.watchers, ...watchers];
  }

  watchNode(node: NodeObject, kubelet: ApiWatcher): void {
    this.#kubelets[node.index] = kubelet;
  }

  /** Throws on a name that no node has: a mistake of the caller's. */
  node(name: string): NodeObject {
    const node = this.nodes.find((each) => each.name === name);
    if (node === undefined) throw new RangeError(`the model has no node ${name}`);
    return node;
  }

  podsOf(workload: number): ReadonlySet<PodObject> {
    return (this.#podsOf[workload] ??= new Set());
  }

  revisionOf(workload: number): number {
    return this.#revisions[workload] ?? 0;
  }

  restartRollout(workload: number): void {
    this.#revisions[workload] = this.revisionOf(workload) + 1;
    for (const watcher of this.watchers) watcher.rollout?.(workload);
  }

  podWithUid(uid: string): PodObject | undefined {
    for (const pod of this.pods) if (pod.uid === uid) return pod;
    return undefined;
  }

  /** The pod that has a node; where an old one is still Terminating beside it, its replacement. */
  databasePod(workload = 0): PodObject | undefined {
    let found: PodObject | undefined;
    for (const pod of this.podsOf(workload))
      if (pod.node !== undefined && (found === undefined || !pod.terminating)) found = pod;
    return found;
  }

  get attachments(): readonly AttachmentObject[] {
    return this.#attachmentsOf.flat();
  }

  attachment(volume: number, node: NodeObject): AttachmentObject | undefined {
    for (const each of this.#attachmentsOf[volume] ?? none) if (each.node === node) return each;
    return undefined;
  }

  addNode(name: string): void {
    const node: NodeObject = {
      ...{ name, index: this.nodes.length, exists: true, ready: 'True', readyBefore: 'True' },
      ...{ readyChangedAtUs: 0, taints: [], leaseStoppedAtUs: undefined },
      ...{ leaseWrittenAtUs: undefined, leaseAnnotation: undefined },
      ...{ inUse: new Set(), attached: new Set(), pods: new Set() },
    };
    this.nodes.push(node);
    this.#nodeChanged(node, notices.nodeRegistered);
  }

  /** Its pods and attachments stay; what it reported was last so. */
  deleteNode(node: NodeObject): void {
    if (!node.exists) return;
    node.exists = false;
    node.attached.clear();
    this.#nodeChanged(node, notices.nodeDeleted, observed.nodeGone);
  }

  /** By a kubelet that starts; a new object, not Ready yet (kubelet_node_status.go). */
  registerNode(node: NodeObject): void {
    if (node.exists) return;
    node.exists = true;
    node.taints = [];
    node.inUse.clear();
    this.#setReady(node, 'Unknown');
    this.#nodeChanged(node, notices.nodeRegistered, observed.nodeTaints);
  }

  setReady(node: NodeObject, ready: Ready): void {
    if (node.ready === ready || !node.exists) return;
    this.#setReady(node, ready);
    const notice = ready === 'True' ? notices.nodeReady : notices.nodeNotReady;
    this.#nodeChanged(node, notice, observed.nodeReady);
  }

  #setReady(node: NodeObject, ready: Ready): void {
    node.readyBefore = node.ready;
    node.ready = ready;
    node.readyChangedAtUs = this.#world.kernel.nowUs;
  }

  setTaints(node: NodeObject, taints: readonly Taint[]): void {
    const isSame =
      taints.length === node.taints.length &&
      taints.every(({ key, effect }) =>
        node.taints.some((each) => each.key === key && each.effect === effect),
      );
    if (isSame || !node.exists) return;
    node.taints = taints;
    this.#nodeChanged(node, notices.taintsChanged, observed.nodeTaints);
  }

  /** `sinceUs`: when it was last renewed; undefined: it is renewed again. */
  setLeaseStopped(node: NodeObject, sinceUs: number | undefined): void {
    node.leaseStoppedAtUs = sinceUs;
    for (const watcher of this.watchers) watcher.lease?.(node);
    this.#kubelets[node.index]?.lease?.(node);
  }

  /** A new version of its lease, by anybody; undefined takes the annotation away. */
  annotateLease(node: NodeObject, value: string | undefined): void {
    if (!node.exists || node.leaseAnnotation === value) return;
    node.leaseAnnotation = value;
    node.leaseWrittenAtUs = this.#world.kernel.nowUs;
  }

  /** In the list of its node's status; a Node that is gone has none. */
  setAttached(node: NodeObject, volume: number, attached: boolean): void {
    if (!setMember(node, node.attached, volume, attached)) return;
    const notice = attached ? notices.listed : notices.unlisted;
    this.#nodeChanged(node, notice, observed.volumesAttached, volume);
  }

  setInUse(node: NodeObject, volume: number, inUse: boolean): void {
    if (!setMember(node, node.inUse, volume, inUse)) return;
    const notice = inUse ? notices.inUse : notices.notInUse;
    this.#nodeChanged(node, notice, observed.volumesInUse, volume);
  }

  /** `uniqueName`: as a StatefulSet has it; a Deployment's pods are all called differently. */
  createPod(workload: number, options: { uniqueName: boolean; finalizer: boolean }): void {
    const made = this.#made++;
    const pod: PodObject = {
      ...{
        name: podNameOf(this.#world.database.name, workload, options.uniqueName ? 0 : made),
        uid: `pod-${made + 1}`,
      },
      ...{
        workload,
        revision: this.revisionOf(workload),
        node: undefined,
        phase: 'Pending',
        ready: false,
        ip: undefined,
      },
      ...{ terminating: false, containersRun: false, finalizer: options.finalizer, held: false },
    };
    this.pods.add(pod);
    (this.#podsOf[workload] ??= new Set()).add(pod);
    this.#podChanged(pod, notices.podCreated, observed.podCreated);
  }

  bindPod(pod: PodObject, node: NodeObject): void {
    pod.node = node;
    node.pods.add(pod);
    this.#podChanged(pod, notices.podScheduled, observed.podScheduled);
  }

  setPodRunning(pod: PodObject, ip: string): void {
    if (pod.phase === 'Running' && pod.containersRun) return;
    pod.containersRun = true;
    if (pod.phase === 'Running') return this.#tellPod(pod);
    pod.phase = 'Running';
    pod.ip = ip;
    this.#world.see?.(ofPod(pod, observed.podPhase, { phase: pod.phase }));
    this.#podChanged(pod, notices.podRunning, observed.podRunning, { ip });
  }

  /** The kubelet says that none of its containers runs: they wait to be started again, or ended. */
  setContainersStopped(pod: PodObject): void {
    if (!pod.containersRun || !this.pods.has(pod)) return;
    pod.containersRun = false;
    this.#podChanged(pod, notices.podStopped);
  }

  setPodReady(pod: PodObject, ready: boolean): void {
    if (pod.ready === ready) return;
    pod.ready = ready;
    const notice = ready ? notices.podReady : notices.podNotReady;
    this.#podChanged(pod, notice, observed.podReady, { ready });
  }

  /** `Succeeded` where each of its containers ended well. */
  endPod(pod: PodObject, phase: 'Succeeded' | 'Failed'): void {
    if (isOver(pod)) return;
    pod.phase = phase;
    this.#podChanged(pod, notices.podFailed, observed.podPhase, { phase });
  }

  /** With a grace period the object stays until the kubelet confirms; without one it is gone. */
  deletePod(pod: PodObject, gracePeriodS: number): void {
    if (!pod.terminating) {
      pod.terminating = true;
      this.#podChanged(pod, notices.podTerminating, observed.podTerminating, { gracePeriodS });
    }
    if (gracePeriodS === 0 || pod.node === undefined) this.removePod(pod);
  }

  /** The object is gone, unless a finalizer holds it; no error when it was gone already. */
  removePod(pod: PodObject): void {
    if (!this.pods.has(pod)) return;
    pod.held = pod.finalizer;
    if (pod.held) return;
    this.pods.delete(pod);
    this.#podsOf[pod.workload]?.delete(pod);
    pod.node?.pods.delete(pod);
    this.#podChanged(pod, notices.podGone, observed.podGone);
  }

  stripFinalizer(pod: PodObject): void {
    pod.finalizer = false;
    if (pod.held) this.removePod(pod);
  }

  createAttachment(volume: number, node: NodeObject): void {
    const attachment = {
      ...{ name: `csi-${node.name}${volume === 0 ? '' : `-${volume}`}`, node, volume },
      ...{ attached: false, deleting: false, attachError: undefined, detachError: undefined },
    };
    (this.#attachmentsOf[volume] ??= []).push(attachment);
    this.#attachmentChanged(attachment, notices.attachmentCreated, observed.attachmentCreated);
  }

  setAttachmentAttached(attachment: AttachmentObject): void {
    attachment.attached = true;
    attachment.attachError = undefined;
    this.#attachmentChanged(attachment, notices.attachmentAttached, observed.attachmentAttached);
  }

  deleteAttachment(attachment: AttachmentObject): void {
    if (attachment.deleting) return;
    attachment.deleting = true;
    this.#attachmentChanged(attachment, notices.attachmentDeleting, observed.attachmentDeleting);
  }

  /** The attacher notes why a call failed (csi_handler.go saveAttachError, saveDetachError); it goes on trying. */
  setFailed(attachment: AttachmentObject, what: 'attach' | 'detach', error: string): void {
    const key = `${what}Error` as const;
    if (attachment[key] === error) return;
    attachment[key] = error;
    const notice = what === 'attach' ? notices.publishRefused : notices.detachFailed;
    this.#attachmentChanged(attachment, notice, observed.attachmentFailed, { what, error });
  }

  /** Its finalizer is taken away. Idempotent. */
  removeAttachment(attachment: AttachmentObject): void {
    const all = this.#attachmentsOf[attachment.volume] ?? [];
    const at = all.indexOf(attachment);
    if (at < 0) return;
    all.splice(at, 1);
    this.#attachmentChanged(attachment, notices.attachmentGone, observed.attachmentGone);
  }

  event(pod: PodObject, from: string, reason: string, message: string): void {
    this.#world.see?.({
      ...{ source: 'api', name: observed.event, volume: pod.workload },
      ...(from === 'kubelet' && pod.node !== undefined ? { node: pod.node.name } : {}),
      data: { object: `Pod/${pod.name}`, reason, message, type: 'Warning', count: 1, from },
    });
  }

  #nodeChanged(
    node: NodeObject,
    notice: NoticeCode,
    name?: Parameters<typeof ofNode>[1],
    volume = -1,
  ): void {
    if (name !== undefined) this.#world.see?.(ofNode(this.#world, name, node));
    this.#world.notice(notice, node.index, volume);
    for (const watcher of this.watchers) watcher.node?.(node);
    this.#kubelets[node.index]?.node?.(node);
  }

  #podChanged(
    pod: PodObject,
    notice: NoticeCode,
    name?: Sighting['name'],
    more?: Sighting['data'],
  ): void {
    if (name !== undefined) this.#world.see?.(ofPod(pod, name, more));
    this.#world.notice(notice, pod.node?.index ?? -1, pod.workload);
    this.#tellPod(pod);
  }

  #tellPod(pod: PodObject): void {
    for (const watcher of this.watchers) watcher.pod?.(pod);
    if (pod.node !== undefined) this.#kubelets[pod.node.index]?.pod?.(pod);
  }

  #attachmentChanged(
    attachment: AttachmentObject,
    notice: NoticeCode,
    name?: Sighting['name'],
    more?: Sighting['data'],
  ): void {
    const { index } = attachment.node;
    if (name !== undefined) this.#world.see?.(ofAttachment(this.#world, attachment, name, more));
    this.#world.notice(notice, index, attachment.volume);
    for (const watcher of this.watchers) watcher.attachment?.(attachment);
    this.#kubelets[index]?.attachment?.(attachment);
  }
}

/** False where it is so already, or where the Node is gone. */
function setMember({ exists }: NodeObject, set: Set<number>, one: number, has: boolean): boolean {
  if (!exists || set.has(one) === has) return false;
  if (has) set.add(one);
  else set.delete(one);
  return true;
}
