/** What people and scripts do with kubectl. While the API server stands still it waits with it. */
import { cordonTaint, type NodeObject, type PodObject, type Taint } from './api-objects.ts';
import { measuredTimes, secondUs } from './timings.ts';
import type { World } from './world.ts';

export class Operator {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** No error when that pod is gone already. */
  forceDelete(uid: string): void {
    this.#onPod(uid, (pod) => this.#world.api.deletePod(pod, 0));
  }

  /** The object stays until its kubelet confirms. No error when it is gone already. */
  deletePod(uid: string): void {
    this.#onPod(uid, (pod) => this.#delete(pod));
  }

  /** No error when that pod is gone already. */
  stripPodFinalizers(uid: string): void {
    this.#onPod(uid, (pod) => this.#world.api.stripFinalizer(pod));
  }

  /** Idempotent. */
  deleteNode(name: string): void {
    this.#onNode(name, (node) => this.#world.api.deleteNode(node));
  }

  cordon(name: string): void {
    this.taint(name, cordonTaint);
  }

  uncordon(name: string): void {
    this.untaint(name, cordonTaint.key);
  }

  /** Does what a drain does with each pod of a node. */
  evict(name: string): void {
    this.#onNode(name, (node) => {
      for (const pod of node.pods) this.#delete(pod);
    });
  }

  /** Idempotent. */
  taint(name: string, { key, effect }: Taint): void {
    this.#onNode(name, (node) => {
      const others = node.taints.filter((each) => each.key !== key || each.effect !== effect);
      this.#world.api.setTaints(node, [...others, { key, effect }]);
    });
  }

  /** All taints with this key; idempotent. */
  untaint(name: string, key: string): void {
    this.#onNode(name, (node) => {
      const others = node.taints.filter((each) => each.key !== key);
      this.#world.api.setTaints(node, others);
    });
  }

  /** Writes to the node's Lease, renewing nothing; undefined takes what was written away. */
  annotateLease(name: string, value: string | undefined): void {
    this.#onNode(name, (node) => this.#world.api.annotateLease(node, value));
  }

  /**
   * The node's VolumeAttachments. Their finalizers take a second request: an attacher that runs may
   * have asked the storage by then. `volume`: only its. Their names.
   */
  deleteAttachments(
    name: string,
    options: { readonly stripFinalizers: boolean; readonly volume?: number },
  ): string[] {
    const { volume } = options;
    const { api, apiServer, chance } = this.#world;
    const found = api.attachments.filter(
      (each) => each.node.name === name && (volume === undefined || each.volume === volume),
    );
    this.#now(() => {
      for (const attachment of found) {
        api.deleteAttachment(attachment);
        if (!options.stripFinalizers) continue;
        const remove = (): void => api.removeAttachment(attachment);
        apiServer.after(chance.within(measuredTimes.apiCall), remove);
      }
    });
    return found.map((attachment) => attachment.name);
  }

  #delete(pod: PodObject): void {
    const { terminationGraceUs } = this.#world.of(pod.workload);
    this.#world.api.deletePod(pod, terminationGraceUs / secondUs);
  }

  #onPod(uid: string, work: (pod: PodObject) => void): void {
    this.#now(() => {
      const pod = this.#world.api.podWithUid(uid);
      if (pod !== undefined) work(pod);
    });
  }

  #onNode(name: string, work: (node: NodeObject) => void): void {
    const node = this.#world.api.node(name);
    this.#now(() => work(node));
  }

  #now(work: () => void): void {
    const { apiServer } = this.#world;
    if (apiServer.still) apiServer.after(0, work);
    else work();
  }
}
