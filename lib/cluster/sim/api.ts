/**
 * The Kubernetes API of the model: a store of the few objects that matter. Every change is seen by
 * observers at once and tells all watchers, who act in their own time.
 */
import { observed } from '../../history/observations.ts';
import {
  attachmentSighting,
  listSighting,
  podSighting,
  readySighting,
  taintSighting,
  taintTexts,
} from './api-sightings.ts';
import type { AttachmentObject, NodeObject, PodObject, Taint } from './api-objects.ts';
import type { Sighting } from './world.ts';

const podName = 'mysql-0';

export class Api {
  readonly nodes = new Map<string, NodeObject>();
  /** By node: one volume has at most one attachment to each. */
  readonly attachments = new Map<string, AttachmentObject>();
  /** The StatefulSet's only pod; its name is unique, so there is never a second object. */
  pod: PodObject | undefined;
  readonly #see: (sighting: Sighting) => void;
  readonly #watchers: (() => void)[] = [];
  #pods = 0;

  constructor(see: (sighting: Sighting) => void) {
    this.#see = see;
  }

  watch(watcher: () => void): void {
    this.#watchers.push(watcher);
  }

  /** Throws on a name that no node has: a mistake of the caller's. */
  node(name: string): NodeObject {
    const node = this.nodes.get(name);
    if (node === undefined) throw new RangeError(`the model has no node ${name}`);
    return node;
  }

  addNode(name: string): void {
    const node: NodeObject = {
      name,
      ready: 'True',
      taints: [],
      leaseRenewals: 0,
      inUse: false,
      attached: false,
    };
    this.nodes.set(name, node);
    this.#changed(readySighting(node));
  }

  setReady(node: NodeObject, ready: NodeObject['ready']): void {
    if (node.ready === ready) return;
    node.ready = ready;
    this.#changed(readySighting(node));
  }

  setTaints(node: NodeObject, taints: readonly Taint[]): void {
    const before = taintTexts(node.taints).join();
    node.taints = taints;
    if (taintTexts(taints).join() !== before) this.#changed(taintSighting(node));
  }

  setInUse(node: NodeObject, inUse: boolean): void {
    if (node.inUse === inUse) return;
    node.inUse = inUse;
    this.#changed(listSighting(observed.volumesInUse, node.name, inUse));
  }

  setAttached(node: NodeObject, attached: boolean): void {
    if (node.attached === attached) return;
    node.attached = attached;
    this.#changed(listSighting(observed.volumesAttached, node.name, attached));
  }

  createPod(): void {
    this.#pods += 1;
    const uid = `pod-${this.#pods}`;
    this.pod = {
      name: podName,
      uid,
      node: undefined,
      phase: 'Pending',
      ready: false,
      ip: undefined,
      terminating: false,
    };
    this.#podChanged(this.pod, observed.podCreated);
  }

  bindPod(pod: PodObject, node: string): void {
    pod.node = node;
    this.#podChanged(pod, observed.podScheduled);
  }

  /** The kubelet says that the pod's containers run. */
  setPodRunning(pod: PodObject, ip: string): void {
    if (pod.phase === 'Running') return;
    pod.phase = 'Running';
    pod.ip = ip;
    this.#podChanged(pod, observed.podPhase, { phase: pod.phase });
    this.#podChanged(pod, observed.podRunning, { ip });
  }

  setPodReady(pod: PodObject, ready: boolean): void {
    if (pod.ready === ready) return;
    pod.ready = ready;
    this.#podChanged(pod, observed.podReady, { ready });
  }

  failPod(pod: PodObject): void {
    pod.phase = 'Failed';
    this.#podChanged(pod, observed.podPhase, { phase: pod.phase });
  }

  /** With a grace period the object stays until the kubelet confirms; without one it is gone. */
  deletePod(pod: PodObject, gracePeriodS: number): void {
    if (!pod.terminating) {
      pod.terminating = true;
      this.#podChanged(pod, observed.podTerminating, { gracePeriodS });
    }
    if (gracePeriodS === 0) this.removePod(pod.uid);
  }

  /** The object is gone; no error when it was gone already. */
  removePod(uid: string): void {
    const { pod } = this;
    if (pod?.uid !== uid) return;
    this.pod = undefined;
    this.#podChanged(pod, observed.podGone);
  }

  createAttachment(node: string): void {
    const attachment = {
      ...{ name: `csi-${node}`, node },
      ...{ attached: false, deleting: false, detachFailed: false },
    };
    this.attachments.set(node, attachment);
    this.#changed(attachmentSighting(observed.attachmentCreated, attachment));
  }

  setAttachmentAttached(attachment: AttachmentObject): void {
    attachment.attached = true;
    this.#changed(attachmentSighting(observed.attachmentAttached, attachment));
  }

  deleteAttachment(attachment: AttachmentObject): void {
    if (attachment.deleting) return;
    attachment.deleting = true;
    this.#changed(attachmentSighting(observed.attachmentDeleting, attachment));
  }

  /** The attacher notes that the disk refused the detach; it goes on trying. */
  failDetach(attachment: AttachmentObject): void {
    if (attachment.detachFailed) return;
    attachment.detachFailed = true;
    for (const watcher of this.#watchers) watcher();
  }

  /** The attacher takes its finalizer away. */
  removeAttachment(attachment: AttachmentObject): void {
    this.attachments.delete(attachment.node);
    this.#changed(attachmentSighting(observed.attachmentGone, attachment));
  }

  event(reason: string, message: string): void {
    const data = { reason, message, object: `Pod/${podName}` };
    this.#see({ source: 'api', name: observed.event, data });
  }

  /** Shows everything as it stands, as a watch does when it begins. */
  showAll(): void {
    for (const node of this.nodes.values()) {
      this.#see(readySighting(node));
      this.#see(taintSighting(node));
      this.#see(listSighting(observed.volumesAttached, node.name, node.attached));
      this.#see(listSighting(observed.volumesInUse, node.name, node.inUse));
    }
    const { pod } = this;
    if (pod !== undefined) {
      const { phase, ip, ready } = pod;
      this.#see(podSighting(pod, observed.podCreated));
      if (pod.node !== undefined) this.#see(podSighting(pod, observed.podScheduled));
      this.#see(podSighting(pod, observed.podPhase, { phase }));
      if (ip !== undefined) this.#see(podSighting(pod, observed.podRunning, { ip }));
      this.#see(podSighting(pod, observed.podReady, { ready }));
    }
    for (const attachment of this.attachments.values()) {
      this.#see(attachmentSighting(observed.attachmentCreated, attachment));
      if (attachment.attached) {
        this.#see(attachmentSighting(observed.attachmentAttached, attachment));
      }
    }
  }

  #podChanged(
    pod: PodObject,
    name: Sighting['name'],
    more: Readonly<Record<string, unknown>> = {},
  ): void {
    this.#changed(podSighting(pod, name, more));
  }

  #changed(sighting: Sighting): void {
    this.#see(sighting);
    for (const watcher of this.#watchers) watcher();
  }
}
