/**
 * The Kubernetes API of the model: a store of the few objects that matter. Every change is seen by
 * observers at once, and told to those whom it concerns, who act in their own time.
 */
import { database } from '../../database/chosen.ts';
import { observed } from '../../history/observations.ts';
import { nodeGoneSighting, podSighting, readySighting, taintSighting } from './api-sightings.ts';
import type { NodeObject, PodObject, Ready, Taint } from './api-objects.ts';
import { AttachmentStore } from './api-attachments.ts';
import { notices, type NoticeCode } from './notices.ts';
import type { Sighting } from './api-watchers.ts';

/** The application's name in those of its pods; the first one is called as ever. */
const podNameOf = (workload: number, suffix: number): string =>
  `${database.name}${workload === 0 ? '' : workload}-${suffix}`;

export class Api extends AttachmentStore {
  readonly nodes: NodeObject[] = [];
  /** Live pod objects of all workloads, the oldest first. */
  readonly pods = new Set<PodObject>();
  readonly #byName = new Map<string, NodeObject>();
  /** Pods of each workload, by its number. */
  readonly #ofWorkload: Set<PodObject>[] = [];
  #made = 0;

  /** Throws on a name that no node has: a mistake of the caller's. */
  node(name: string): NodeObject {
    const node = this.#byName.get(name);
    if (node === undefined) throw new RangeError(`the model has no node ${name}`);
    return node;
  }

  podsOf(workload: number): ReadonlySet<PodObject> {
    return (this.#ofWorkload[workload] ??= new Set());
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

  addNode(name: string): void {
    const node: NodeObject = {
      ...{ name, index: this.nodes.length, exists: true, ready: 'True', readyBefore: 'True' },
      ...{ readyChangedAtUs: 0, taints: [], leaseStoppedAtUs: undefined },
      ...{ leaseWrittenAtUs: undefined, leaseAnnotation: undefined },
      ...{ inUse: new Set(), attached: new Set(), pods: new Set() },
    };
    this.nodes.push(node);
    this.#byName.set(name, node);
    this.#nodeChanged(node, notices.nodeRegistered);
  }

  /** Its pods and attachments stay; what it reported was last seen so. */
  deleteNode(node: NodeObject): void {
    if (!node.exists) return;
    node.exists = false;
    node.attached.clear();
    this.see?.(nodeGoneSighting(node));
    this.#nodeChanged(node, notices.nodeDeleted);
  }

  /** By a kubelet that starts; a new object, not Ready yet (kubelet_node_status.go). */
  registerNode(node: NodeObject): void {
    if (node.exists) return;
    node.exists = true;
    node.taints = [];
    node.inUse.clear();
    this.#setReady(node, 'Unknown');
    this.see?.(taintSighting(node));
    this.#nodeChanged(node, notices.nodeRegistered);
  }

  setReady(node: NodeObject, ready: Ready): void {
    if (node.ready === ready || !node.exists) return;
    this.#setReady(node, ready);
    this.see?.(readySighting(node));
    this.#nodeChanged(node, ready === 'True' ? notices.nodeReady : notices.nodeNotReady);
  }

  #setReady(node: NodeObject, ready: Ready): void {
    node.readyBefore = node.ready;
    node.ready = ready;
    node.readyChangedAtUs = this.nowUs;
  }

  setTaints(node: NodeObject, taints: readonly Taint[]): void {
    const isSame =
      taints.length === node.taints.length &&
      taints.every(({ key, effect }) =>
        node.taints.some((each) => each.key === key && each.effect === effect),
      );
    if (isSame || !node.exists) return;
    node.taints = taints;
    this.see?.(taintSighting(node));
    this.#nodeChanged(node, notices.taintsChanged);
  }

  /** `sinceUs`: when it was last renewed; undefined: it is renewed again. */
  setLeaseStopped(node: NodeObject, sinceUs: number | undefined): void {
    node.leaseStoppedAtUs = sinceUs;
    for (const watcher of this.watchers) watcher.lease?.(node);
    this.onNode(node).lease?.(node);
  }

  /** A new version of its lease, by anybody; undefined takes the annotation away. */
  annotateLease(node: NodeObject, value: string | undefined): void {
    if (!node.exists || node.leaseAnnotation === value) return;
    node.leaseAnnotation = value;
    node.leaseWrittenAtUs = this.nowUs;
  }

  /** The kubelet's report of what is in use on its node. */
  setInUse(node: NodeObject, volume: number, inUse: boolean): void {
    if (!node.exists || node.inUse.has(volume) === inUse) return;
    if (inUse) node.inUse.add(volume);
    else node.inUse.delete(volume);
    this.seeList(observed.volumesInUse, node, node.inUse);
    this.#nodeChanged(node, inUse ? notices.inUse : notices.notInUse, volume);
  }

  /** `uniqueName`: as a StatefulSet has it; a Deployment's pods are all called differently. */
  createPod(workload: number, options: { uniqueName: boolean; finalizer: boolean }): void {
    const made = this.#made++;
    const pod: PodObject = {
      ...{ name: podNameOf(workload, options.uniqueName ? 0 : made), uid: `pod-${made + 1}` },
      ...{ workload, node: undefined, phase: 'Pending', ready: false, ip: undefined },
      ...{ terminating: false, containersRun: false, finalizer: options.finalizer, held: false },
    };
    this.pods.add(pod);
    (this.#ofWorkload[workload] ??= new Set()).add(pod);
    this.#podChanged(pod, observed.podCreated, notices.podCreated);
  }

  bindPod(pod: PodObject, node: NodeObject): void {
    pod.node = node;
    node.pods.add(pod);
    this.#podChanged(pod, observed.podScheduled, notices.podScheduled);
  }

  /** The kubelet says that the pod's containers run. */
  setPodRunning(pod: PodObject, ip: string): void {
    if (pod.phase === 'Running' && pod.containersRun) return;
    pod.containersRun = true;
    if (pod.phase === 'Running') return this.#tellPod(pod);
    pod.phase = 'Running';
    pod.ip = ip;
    this.see?.(podSighting(pod, observed.podPhase, { phase: pod.phase }));
    this.#podChanged(pod, observed.podRunning, notices.podRunning, { ip });
  }

  /** The kubelet says that none of its containers runs: they wait to be started again, or ended. */
  setContainersStopped(pod: PodObject): void {
    if (!pod.containersRun || !this.pods.has(pod)) return;
    pod.containersRun = false;
    this.notice(notices.podStopped, pod.node?.index ?? -1, pod.workload);
    this.#tellPod(pod);
  }

  setPodReady(pod: PodObject, ready: boolean): void {
    if (pod.ready === ready) return;
    pod.ready = ready;
    const notice = ready ? notices.podReady : notices.podNotReady;
    this.#podChanged(pod, observed.podReady, notice, { ready });
  }

  failPod(pod: PodObject): void {
    if (pod.phase === 'Failed') return;
    pod.phase = 'Failed';
    this.#podChanged(pod, observed.podPhase, notices.podFailed, { phase: pod.phase });
  }

  /** With a grace period the object stays until the kubelet confirms; without one it is gone. */
  deletePod(pod: PodObject, gracePeriodS: number): void {
    if (!pod.terminating) {
      pod.terminating = true;
      this.#podChanged(pod, observed.podTerminating, notices.podTerminating, { gracePeriodS });
    }
    if (gracePeriodS === 0 || pod.node === undefined) this.removePod(pod);
  }

  /** The object is gone, unless a finalizer holds it; no error when it was gone already. */
  removePod(pod: PodObject): void {
    if (!this.pods.has(pod)) return;
    pod.held = pod.finalizer;
    if (pod.held) return;
    this.pods.delete(pod);
    this.#ofWorkload[pod.workload]?.delete(pod);
    pod.node?.pods.delete(pod);
    this.#podChanged(pod, observed.podGone, notices.podGone);
  }

  stripFinalizer(pod: PodObject): void {
    pod.finalizer = false;
    if (pod.held) this.removePod(pod);
  }

  /** A warning about a pod. */
  event(pod: PodObject, from: string, reason: string, message: string): void {
    this.see?.({
      ...{ source: 'api', name: observed.event },
      volume: pod.workload,
      ...(from === 'kubelet' && pod.node !== undefined ? { node: pod.node.name } : {}),
      data: { object: `Pod/${pod.name}`, reason, message, type: 'Warning', count: 1, from },
    });
  }

  #podChanged(
    pod: PodObject,
    name: Sighting['name'],
    notice: NoticeCode,
    more?: Readonly<Record<string, unknown>>,
  ): void {
    this.see?.(podSighting(pod, name, more));
    this.notice(notice, pod.node?.index ?? -1, pod.workload);
    this.#tellPod(pod);
  }

  #tellPod(pod: PodObject): void {
    for (const watcher of this.watchers) watcher.pod?.(pod);
    if (pod.node !== undefined) this.onNode(pod.node).pod?.(pod);
  }

  #nodeChanged(node: NodeObject, notice: NoticeCode, volume = -1): void {
    this.notice(notice, node.index, volume);
    this.tellNode(node);
  }
}
