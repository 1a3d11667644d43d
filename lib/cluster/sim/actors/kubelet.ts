/**
 * A kubelet: runs the pods that are bound to its node, with their volumes, and ends those that are to
 * go. It acts on the API only while it hears of its pods there; what runs goes on without.
 */
import type { PodObject } from '../api-objects.ts';
import type { Chance } from '../chance.ts';
import { coalesced } from '../coalesced.ts';
import type { Container } from '../container.ts';
import type { Mount } from '../disk/mount.ts';
import type { Volume } from '../disk/volume.ts';
import type { MachineWatcher, NodeMachine, OnNode } from '../machine.ts';
import { notices } from '../notices.ts';
import { kubernetesTimes } from '../timings.ts';
import { Heartbeat } from './heartbeat.ts';
import { LocalPod } from './local-pod.ts';
import { NodeVolume } from './node-volume.ts';

export interface KubeletOptions extends OnNode {
  readonly chance: Chance;
  /** All volumes, by number. */
  readonly volumes: readonly Volume[];
}

export class Kubelet implements MachineWatcher {
  readonly machine: NodeMachine;
  readonly #options: KubeletOptions;
  readonly #heartbeat: Heartbeat;
  readonly #pods = new Map<PodObject, LocalPod>();
  /** Volumes that it ever had to do with, by number. */
  readonly #volumes = new Map<number, NodeVolume>();
  #nudge: () => void;

  constructor(options: KubeletOptions) {
    const { world, machine, node } = options;
    this.#options = options;
    this.machine = machine;
    this.#nudge = this.#newNudge();
    const nudge = (): void => this.#nudge();
    this.#heartbeat = new Heartbeat({
      ...options,
      onReport: () => this.#report(),
      onInformed: nudge,
    });
    const lease = (): void => this.#leaseChanged();
    world.api.watchNode(node, { node: nudge, pod: nudge, attachment: nudge, lease });
    machine.watch(this);
  }

  thawed(): void {
    this.#nudge();
  }

  booted(): void {
    this.#options.world.api.registerNode(this.#options.node);
  }

  restarted(): void {
    const { world, node } = this.#options;
    world.notice(notices.kubeletRestarted, node.index, -1);
    world.api.registerNode(node);
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
    const { machine, chance } = this.#options;
    const runner = { after: machine.byKubelet.bind(machine) };
    return coalesced(runner, chance, kubernetesTimes.volumeReconcile, () => this.#reconcile());
  }

  #reconcile(): void {
    if (this.#heartbeat.informed) this.#followApi();
    for (const [object, pod] of this.#pods)
      if (pod.isOver && !this.#options.world.api.pods.has(object)) this.#pods.delete(object);
    for (const volume of this.#volumes.values()) volume.settle();
    this.#heartbeat.reportSoon(this.#hasNews());
  }

  #followApi(): void {
    const { node } = this.#options;
    for (const object of node.pods) if (!this.#pods.has(object)) this.#accept(object);
    for (const pod of this.#pods.values()) pod.reconcile();
  }

  /** A pod that is to go and of which nothing runs here is confirmed gone. */
  #accept(object: PodObject): void {
    const { world, machine, node } = this.#options;
    if (object.terminating) {
      world.api.removePod(object);
      return;
    }
    const volume = this.#volume(object.workload);
    const onChange = (): void => this.#nudge();
    this.#pods.set(object, new LocalPod({ world, machine, node, object, volume, onChange }));
    this.#nudge();
  }

  #volume(index: number): NodeVolume {
    const known = this.#volumes.get(index);
    if (known !== undefined) return known;
    const { world, machine, node, volumes } = this.#options;
    const volume = volumes[index];
    if (volume === undefined) throw new RangeError(`the model has no volume ${index}`);
    const onChange = (): void => this.#nudge();
    const made = new NodeVolume({ world, machine, node, volume, index, onChange });
    this.#volumes.set(index, made);
    return made;
  }

  /** What the last report said differs from what is. */
  #hasNews(): boolean {
    const { node } = this.#options;
    for (const { index, inUse, reported } of this.#volumes.values())
      if (inUse !== reported || inUse !== node.inUse.has(index)) return true;
    return false;
  }

  #report(): void {
    const { world, node } = this.#options;
    for (const volume of this.#volumes.values()) {
      volume.reported = volume.inUse && node.exists;
      world.api.setInUse(node, volume.index, volume.inUse);
    }
    this.#nudge();
  }
}
