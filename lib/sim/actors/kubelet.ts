/**
 * A kubelet: runs the pods that are bound to its node, with their volumes, and ends those that are to
 * go. It acts on the API only while it hears of its pods there; what runs goes on without.
 */
import type { PodObject } from '../api-objects.ts';
import type { Chance } from '../chance.ts';
import type { Container } from '../container.ts';
import type { Mount } from '../disk/mount.ts';
import type { Volume } from '../disk/volume.ts';
import type { MachineWatcher } from '../machine.ts';
import { notices } from '../notices.ts';
import { OnNode, type NodeContext } from '../on-node.ts';
import { coalesced } from '../process.ts';
import { kubernetesTimes } from '../timings.ts';
import { Heartbeat } from './heartbeat.ts';
import { LocalPod } from './local-pod.ts';
import { NodeVolume } from './node-volume.ts';

export interface KubeletOptions extends NodeContext {
  readonly chance: Chance;
  /** All volumes, by number. */
  readonly volumes: readonly Volume[];
}

export class Kubelet extends OnNode implements MachineWatcher {
  readonly #options: KubeletOptions;
  readonly #heartbeat: Heartbeat;
  readonly #pods = new Map<PodObject, LocalPod>();
  /** Volumes that it ever had to do with, by number. */
  readonly #volumes = new Map<number, NodeVolume>();
  #nudge: () => void;
  /** Something changed: it looks again. */
  readonly #onChange = (): void => this.#nudge();

  constructor(options: KubeletOptions) {
    super(options);
    this.#options = options;
    this.#nudge = this.#newNudge();
    const nudge = this.#onChange;
    const onReport = (): void => this.#report();
    this.#heartbeat = new Heartbeat(this, options.chance, { onReport, onInformed: nudge });
    const lease = (): void => this.#leaseChanged();
    this.world.api.watchNode(this.node, { node: nudge, pod: nudge, attachment: nudge, lease });
    this.machine.watchers.push(this);
  }

  thawed(): void {
    this.#nudge();
  }

  booted(): void {
    this.world.api.registerNode(this.node);
  }

  restarted(): void {
    this.notice(notices.kubeletRestarted, -1);
    this.world.api.registerNode(this.node);
    for (const pod of this.#pods.values()) pod.kubeletRestarted();
    for (const volume of this.#volumes.values()) volume.kubeletRestarted();
    this.#nudge();
  }

  killed(): void {
    for (const pod of this.#pods.values()) pod.kill();
    for (const volume of this.#volumes.values()) volume.killed();
    this.#pods.clear();
    // What it had under way is gone, a pending look included.
    this.#nudge = this.#newNudge();
  }

  /** Container of the workload's pod; of two the one that serves, or else the younger. */
  container(workload = 0): Container | undefined {
    let found: Container | undefined;
    for (const { object, container } of this.#pods.values())
      if (object.workload === workload && found?.server === undefined) found = container ?? found;
    return found;
  }

  mount(volume = 0): Mount | undefined {
    return this.#volumes.get(volume)?.mount;
  }

  /** The API server stands still, or goes on. */
  apiChanged(): void {
    this.#heartbeat.apiChanged();
    this.#leaseChanged();
  }

  /** Sidecars on this node see their Lease renewed again, or no longer. */
  #leaseChanged(): void {
    for (const pod of this.#pods.values()) pod.leaseChanged();
  }

  #newNudge(): () => void {
    const { machine } = this;
    const after = machine.byKubelet.bind(machine);
    const { chance } = this.#options;
    return coalesced(after, chance, kubernetesTimes.volumeReconcile, () => this.#reconcile());
  }

  #reconcile(): void {
    if (this.#heartbeat.informed) this.#followApi();
    for (const [object, pod] of this.#pods)
      if (pod.isOver && !this.world.api.pods.has(object)) this.#pods.delete(object);
    for (const volume of this.#volumes.values()) volume.settle();
    this.#heartbeat.reportSoon(this.#hasNews());
  }

  #followApi(): void {
    for (const object of this.node.pods) if (!this.#pods.has(object)) this.#accept(object);
    for (const pod of this.#pods.values()) pod.reconcile();
  }

  /** A pod that is to go and of which nothing runs here is confirmed gone. */
  #accept(object: PodObject): void {
    if (object.terminating) return this.world.api.removePod(object);
    const volume = this.#volume(object.workload);
    this.#pods.set(object, new LocalPod(this, object, volume, this.#onChange));
    this.#nudge();
  }

  #volume(index: number): NodeVolume {
    const known = this.#volumes.get(index);
    if (known !== undefined) return known;
    const volume = this.#options.volumes[index];
    if (volume === undefined) throw new RangeError(`the model has no volume ${index}`);
    const made = new NodeVolume(this, volume, this.#onChange);
    this.#volumes.set(index, made);
    return made;
  }

  /** What the last report said differs from what is. */
  #hasNews(): boolean {
    for (const { index, inUse, reported } of this.#volumes.values())
      if (inUse !== reported || inUse !== this.node.inUse.has(index)) return true;
    return false;
  }

  #report(): void {
    for (const volume of this.#volumes.values()) {
      volume.reported = volume.inUse && this.node.exists;
      this.world.api.setInUse(this.node, volume.index, volume.inUse);
    }
    this.#nudge();
  }
}
