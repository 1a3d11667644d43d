/**
 * A volume on a node as its kubelet knows it: staged once for all pods there, and kept for as long as
 * one of them wants it. What is staged outlives a detach that the node was not asked about.
 */
import type { CallName } from '../../core/index.ts';
import { observed } from '../../history/index.ts';
import { type CallNotes, isUncertain, perform } from '../disk/calls.ts';
import { decideStage, type RefusalMessage } from '../disk/modes.ts';
import { Mount } from '../disk/mount.ts';
import type { Path, Volume } from '../disk/volume.ts';
import { notices, mountOf, seeWritten } from '../sightings.ts';
import { OnNode, type NodeContext } from '../machine.ts';
import { BackOff } from '../kernel.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import { draw } from '../world.ts';

type Rest<F extends (...args: never[]) => void> =
  Parameters<F> extends [unknown, ...infer Others] ? Others : never;

export class NodeVolume extends OnNode {
  readonly index: number;
  /** Pods here that may use the mount. */
  users = 0;
  /** Pods here whose container runs on it. */
  servers = 0;
  /** Pods here that want it. */
  wanted = 0;
  /** The last status report said that it is in use: staging waits for that. */
  reported = false;
  /** A restarted kubelet does not know it: it is neither unstaged nor reported (#121937). */
  forgotten = false;
  /** It was not in volumesAttached when the kubelet started: not reported (reconstruct.go). */
  unattachable = false;
  readonly #volume: Volume;
  readonly #onChange: () => void;
  readonly #backOff = new BackOff(kubernetesTimes.volumeBackOff);
  readonly #unstageBackOff = new BackOff(kubernetesTimes.volumeBackOff);
  #mount: Mount | undefined;
  /** A call failed, and may be under way: it is staged anew for the next pod (MarkDeviceAsUncertain). */
  #uncertain = false;
  #busy = false;
  #settling = false;
  #retryAtUs = 0;
  #unstageAtUs = 0;
  /** Staged for a pod that has not got it yet. */
  #fresh = false;

  constructor(on: NodeContext, volume: Volume, onChange: () => void) {
    super(on);
    this.#volume = volume;
    this.index = volume.index;
    this.#onChange = onChange;
  }

  get mount(): Mount | undefined {
    return this.#mount;
  }

  get #attachable(): boolean {
    return this.world.of(this.index).attachable;
  }

  get inUse(): boolean {
    if (!this.#attachable || this.unattachable) return false;
    return this.wanted > 0 || (this.#isThere && !this.forgotten);
  }

  /** As far as its kubelet knows. */
  get #isThere(): boolean {
    return this.#mount !== undefined || this.#uncertain;
  }

  /** To the driver of this node, by its kubelet. */
  call(call: CallName, beganAtUs: number, ...then: Rest<typeof perform>): void {
    const { world, node, machine } = this;
    perform(
      {
        ...{ world, volume: this.#volume, call, node, beganAtUs },
        timeoutUs: kubernetesTimes.csiTimeoutUs,
        caller: (delayUs, run) => machine.byKubelet(delayUs, run),
        driver: (delayUs, run) => machine.after(delayUs, run),
      },
      ...then,
    );
  }

  /**
   * A mount for a pod, if it can be had now: one that is there, whatever path it is on
   * (operation_generator.go GenerateMountVolumeFunc skips a device that is mounted globally), or a
   * new one, on the way.
   */
  obtain(): Mount | undefined {
    if (this.#busy) return undefined;
    if (!this.#attachable) {
      const volume = this.#volume;
      this.#mount ??= this.#mounted(new Mount(volume, volume.publish(this.node.name)));
      return this.#mount;
    }
    const path = this.#attachedPath();
    if (path === undefined) return undefined;
    if (this.#mount !== undefined && !this.#uncertain) return this.#skipStage(this.#mount, path);
    const mayStage = this.reported && this.node.attached.has(this.index) && !path.cut;
    if (mayStage && this.nowUs >= this.#retryAtUs) this.#beginStage(path);
    return undefined;
  }

  #beginStage(path: Path): void {
    this.#busy = true;
    this.byKubelet(measuredTimes.beforeStage, () => {
      if (this.wanted > 0) return this.#stage(path);
      this.#busy = false;
      this.#onChange();
    });
  }

  /** Unstages what no pod here wants: the volume manager's loop finds it. */
  settle(): void {
    if (!this.#isIdle || this.#settling || this.nowUs < this.#unstageAtUs) return;
    this.#settling = true;
    this.byKubelet(kubernetesTimes.volumeReconcile, () => {
      this.#settling = false;
      if (this.#isIdle) this.#unstage();
    });
  }

  get #isIdle(): boolean {
    const isWanted = this.wanted > 0 || this.users > 0;
    const isStill = this.#busy || this.forgotten || !this.machine.driverRuns;
    return this.#isThere && !isWanted && !isStill;
  }

  #unstage(): void {
    this.#busy = true;
    const beganAtUs = this.nowUs;
    const ended = (error: RefusalMessage): void => {
      this.#busy = false;
      if (error !== undefined) this.#unstageLater();
      else if (this.#attachable) this.#unstaged();
      this.#onChange();
    };
    this.byKubelet(measuredTimes.unstage, () => {
      if (!this.#attachable) return this.#unmount(() => ended(undefined));
      this.call('unstage', beganAtUs, (end) => this.#unmount(end), ended);
    });
  }

  #unstaged(): void {
    this.#uncertain = false;
    this.#unstageBackOff.reset();
    this.notice(notices.unstaged, this.index);
  }

  /** GenerateUnmountDeviceFunc of operation_generator.go. */
  #unstageLater(): void {
    this.#uncertain = true;
    const delayUs = this.#unstageBackOff.next();
    this.#unstageAtUs = this.nowUs + delayUs;
    this.machine.byKubelet(delayUs, this.#onChange);
  }

  /**
   * A killed node's mount namespace ends with a clean unmount: only a cut makes it a crash. The folder stays, and
   * its kubelet asks for the unmount once it is back (reconstruct.go).
   */
  killed(): void {
    this.#uncertain = this.#attachable && this.#isThere;
    this.#unmount(() => undefined);
    this.#mount = undefined;
    this.#busy = false;
    this.#settling = false;
    this.users = 0;
    this.servers = 0;
    this.wanted = 0;
    this.reported = false;
    this.forgotten = false;
    this.unattachable = false;
    this.#retryAtUs = 0;
    this.#unstageAtUs = 0;
  }

  booted(): void {
    this.unattachable = this.#isThere && !this.node.attached.has(this.index);
  }

  /** The kubelet begins anew, and finds mounts by the pods that have them. */
  kubeletRestarted(): void {
    this.reported = false;
    if (this.#mount === undefined) return;
    this.unattachable = !this.node.attached.has(this.index);
    if (this.users > 0 || this.#busy) return;
    this.forgotten = true;
    this.notice(notices.mountForgotten, this.index);
  }

  /** The device, once the API says that it is attached here. */
  #attachedPath(): Path | undefined {
    const attachment = this.world.api.attachment(this.index, this.node);
    if (attachment?.attached !== true || attachment.deleting) return undefined;
    return this.#volume.published(this.node.name);
  }

  #skipStage(mount: Mount, path: Path): Mount {
    const isFresh = this.#fresh;
    this.#fresh = false;
    this.forgotten = false;
    if (isFresh) return mount;
    this.notice(notices.stageSkipped, this.index);
    if (mount.path !== path) this.notice(notices.staleMount, this.index);
    return mount;
  }

  /** What the driver's NodeStage does before the mount, and refuses. */
  #stage(path: Path): void {
    const beganAtUs = this.nowUs;
    this.machine.after(draw(this.world, measuredTimes.stage), () =>
      this.call(
        'stage',
        beganAtUs,
        (end) => this.#mountOn(path, end),
        (error) => this.#staged(error),
      ),
    );
  }

  #mountOn(path: Path, end: (notes: CallNotes) => void): void {
    const { world, node } = this;
    const volume = this.#volume;
    const { generation, device } = path;
    const staged = this.#mount?.path;
    if (staged === path) return end({ generation, device });
    if (staged !== undefined) return end({ error: `ALREADY_EXISTS: ${staged.device} (model)` });
    const mount = (): void => {
      seeWritten(world, volume);
      this.#mount = new Mount(volume, path);
      end({ generation, device, fsck: this.#mount.fsck });
      this.#mounted(this.#mount);
    };
    const error = decideStage({ world, volume, node: node.name });
    if (error !== undefined) return end({ error });
    if (world.of(volume.index).volume.filesystem !== 'ext4-mmp' || volume.clean) return mount();
    const isRenewed = (rival: Path): void =>
      end({ error: `MMP: the file system is renewed by ${rival.node} (model)` });
    this.#look(isRenewed, () => this.#look(isRenewed, mount));
  }

  /**
   * ext4's multiple mount protection: a mount waits whether another one renews the block, claims it,
   * and waits again (fs/ext4/mmp.c ext4_multi_mount_protect).
   */
  #look(isRenewed: (rival: Path) => void, then: () => void): void {
    this.machine.after(draw(this.world, measuredTimes.mmpLook), () => {
      const rival = this.#volume.others(this.node.name).find(({ writes }) => writes);
      if (rival === undefined) then();
      else isRenewed(rival);
    });
  }

  #staged(error: RefusalMessage): void {
    this.#busy = false;
    if (error !== undefined) {
      this.#uncertain ||= isUncertain(error);
      this.notice(notices.stageRefused, this.index);
      this.tellFailed('MountVolume.MountDevice failed for volume: the driver refused it');
      const delayUs = this.#backOff.next();
      this.#retryAtUs = this.nowUs + delayUs;
      this.machine.byKubelet(delayUs, this.#onChange);
    } else {
      this.notice(notices.staged, this.index);
      this.unattachable = false;
      this.#uncertain = false;
      this.#backOff.reset();
      this.#fresh = true;
    }
    this.#onChange();
  }

  /** Events of a node that is cut off reach nobody. */
  tellFailed(message: string): void {
    if (this.world.see === undefined || !this.machine.hearsApi) return;
    for (const pod of this.node.pods)
      if (pod.workload === this.index) this.world.api.event(pod, 'kubelet', 'FailedMount', message);
  }

  #mounted(mount: Mount): Mount {
    this.world.see?.(mountOf(observed.mounted, this.index, mount.path));
    this.notice(notices.mounted, this.index);
    return mount;
  }

  /** Waits for what the disk holds. */
  #unmount(done: () => void): void {
    const mount = this.#mount;
    if (mount === undefined) return done();
    mount.unmount(() => {
      if (this.#mount === mount) this.#mount = undefined;
      seeWritten(this.world, this.#volume);
      this.world.see?.(mountOf(observed.unmounted, this.index, mount.path));
      this.notice(notices.unmounted, this.index);
      done();
    });
  }
}
