/**
 * A volume on a node as its kubelet knows it: staged once for all pods there, and kept for as long as
 * one of them wants it. What is staged outlives a detach that the node was not asked about.
 */
import { csiCalls, observed } from '../../../history/observations.ts';
import { BackOff } from '../back-off.ts';
import { Mount } from '../disk/mount.ts';
import type { Path } from '../disk/path.ts';
import type { Volume } from '../disk/volume.ts';
import type { OnNode } from '../machine.ts';
import { notices } from '../notices.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import { seeCall, seeWritten } from './sightings.ts';
import { stage } from './staging.ts';

export interface NodeVolumeOptions extends OnNode {
  readonly volume: Volume;
  /** The volume's number. */
  readonly index: number;
  /** Something changed: the kubelet looks again. */
  readonly onChange: () => void;
}

export class NodeVolume {
  readonly index: number;
  /** Pods here that may use the mount. */
  users = 0;
  /** Pods here that want it. */
  wanted = 0;
  /** The last status report said that it is in use: staging waits for that. */
  reported = false;
  /** A restarted kubelet does not know it: it is neither unstaged nor reported (#121937). */
  forgotten = false;
  /** It was not in volumesAttached when the kubelet started: not reported (reconstruct.go). */
  unattachable = false;
  readonly #options: NodeVolumeOptions;
  readonly #backOff = new BackOff(kubernetesTimes.volumeBackOff);
  #mount: Mount | undefined;
  #busy = false;
  #settling = false;
  #retryAtUs = 0;
  /** Staged for a pod that has not got it yet. */
  #fresh = false;

  constructor(options: NodeVolumeOptions) {
    this.#options = options;
    this.index = options.index;
  }

  get mount(): Mount | undefined {
    return this.#mount;
  }

  /** What the kubelet reports. */
  get inUse(): boolean {
    const { attachable } = this.#options.world.of(this.index);
    if (!attachable || this.unattachable) return false;
    return this.wanted > 0 || (this.#mount !== undefined && !this.forgotten);
  }

  /**
   * A mount for a pod, if it can be had now: one that is there, whatever path it is on
   * (operation_generator.go GenerateMountVolumeFunc skips a device that is mounted globally), or a
   * new one, on the way.
   */
  obtain(): Mount | undefined {
    if (this.#busy) return undefined;
    const { world, volume, machine } = this.#options;
    if (!world.of(this.index).attachable) {
      this.#mount ??= this.#mounted(new Mount(volume, volume.publish(machine.name)));
      return this.#mount;
    }
    const path = this.#attachedPath();
    if (path === undefined) return undefined;
    if (this.#mount !== undefined) return this.#skipStage(this.#mount, path);
    const { node } = this.#options;
    const mayStage = this.reported && node.attached.has(this.index) && !path.cut;
    if (mayStage && world.kernel.nowUs >= this.#retryAtUs) this.#beginStage(path);
    return undefined;
  }

  #beginStage(path: Path): void {
    const { world, machine, onChange } = this.#options;
    this.#busy = true;
    machine.byKubelet(world.chance.within(measuredTimes.beforeStage), () => {
      if (this.wanted > 0) return this.#stage(path);
      this.#busy = false;
      onChange();
    });
  }

  /** Unstages what no pod here wants: the volume manager's loop finds it. */
  settle(): void {
    if (!this.#isIdle || this.#settling) return;
    this.#settling = true;
    const { world, machine } = this.#options;
    machine.byKubelet(world.chance.within(kubernetesTimes.volumeReconcile), () => {
      this.#settling = false;
      if (this.#isIdle) this.#unstage();
    });
  }

  get #isIdle(): boolean {
    const isWanted = this.wanted > 0 || this.users > 0;
    return this.#mount !== undefined && !isWanted && !this.#busy && !this.forgotten;
  }

  #unstage(): void {
    this.#busy = true;
    const { world, machine, onChange } = this.#options;
    const beganAtUs = world.kernel.nowUs;
    machine.byKubelet(world.chance.within(measuredTimes.unstage), () =>
      this.#unmount(() => {
        this.#busy = false;
        if (world.of(this.index).attachable) {
          seeCall(world, this.index, csiCalls.unstage, machine.name, beganAtUs);
          world.notice(notices.unstaged, machine.index, this.index);
        }
        onChange();
      }),
    );
  }

  /** A killed node's mount namespace ends with a clean unmount: only a cut makes it a crash. */
  killed(): void {
    this.#unmount(() => undefined);
    this.#mount = undefined;
    this.#busy = false;
    this.#settling = false;
    this.users = 0;
    this.wanted = 0;
    this.reported = false;
    this.forgotten = false;
    this.unattachable = false;
    this.#retryAtUs = 0;
  }

  /** The kubelet begins anew, and finds mounts by the pods that have them. */
  kubeletRestarted(): void {
    const { world, machine, node } = this.#options;
    this.reported = false;
    if (this.#mount === undefined) return;
    this.unattachable = !node.attached.has(this.index);
    if (this.users > 0 || this.#busy) return;
    this.forgotten = true;
    world.notice(notices.mountForgotten, machine.index, this.index);
  }

  /** The device, once the API says that it is attached here. */
  #attachedPath(): Path | undefined {
    const { world, volume, machine, node } = this.#options;
    const attachment = world.api.attachment(this.index, node);
    if (attachment?.attached !== true || attachment.deleting) return undefined;
    return volume.published(machine.name);
  }

  #skipStage(mount: Mount, path: Path): Mount {
    const { world, machine } = this.#options;
    const isFresh = this.#fresh;
    this.#fresh = false;
    this.forgotten = false;
    if (isFresh) return mount;
    world.notice(notices.stageSkipped, machine.index, this.index);
    if (mount.path !== path) world.notice(notices.staleMount, machine.index, this.index);
    return mount;
  }

  #stage(path: Path): void {
    const { world, machine, volume, onChange } = this.#options;
    stage({
      ...{ world, volume, machine, path },
      done: (mount) => {
        this.#busy = false;
        if (mount === undefined) {
          world.notice(notices.stageRefused, machine.index, this.index);
          this.#tellRefused();
          const delayUs = this.#backOff.next();
          this.#retryAtUs = world.kernel.nowUs + delayUs;
          machine.byKubelet(delayUs, onChange);
        } else {
          world.notice(notices.staged, machine.index, this.index);
          this.unattachable = false;
          this.#backOff.reset();
          this.#mount = this.#mounted(mount);
          this.#fresh = true;
        }
        onChange();
      },
    });
  }

  /** Events of a node that is cut off reach nobody. */
  #tellRefused(): void {
    const { world, machine, node } = this.#options;
    if (world.see === undefined || !machine.hearsApi) return;
    const message = 'MountVolume.MountDevice failed for volume: the driver refused it';
    for (const pod of node.pods) {
      if (pod.workload === this.index) world.api.event(pod, 'kubelet', 'FailedMount', message);
    }
  }

  #mounted(mount: Mount): Mount {
    this.#see(observed.mounted, mount.path);
    this.#options.world.notice(notices.mounted, this.#options.machine.index, this.index);
    return mount;
  }

  /** Waits for what the disk holds. */
  #unmount(done: () => void): void {
    const mount = this.#mount;
    if (mount === undefined) return done();
    mount.unmount(() => {
      if (this.#mount === mount) this.#mount = undefined;
      const { world, volume, machine } = this.#options;
      seeWritten(world, volume);
      this.#see(observed.unmounted, mount.path);
      world.notice(notices.unmounted, machine.index, this.index);
      done();
    });
  }

  #see(name: typeof observed.mounted | typeof observed.unmounted, { device }: Path): void {
    const { world, machine } = this.#options;
    const volume = this.index;
    world.see?.({ source: 'mounts', name, node: machine.name, volume, data: { device } });
  }
}
