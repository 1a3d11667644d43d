/**
 * A kubelet: mounts the volume and runs the database of the pod that is bound to its node, and
 * undoes both when the pod is to go. It acts on the API only while the two hear each other; what
 * runs goes on without.
 */
import { csiCalls, observed } from '../../../history/observations.ts';
import type { PodObject } from '../api-objects.ts';
import { Container } from '../container.ts';
import { Mount } from '../disk/mount.ts';
import type { Path } from '../disk/path.ts';
import type { Volume } from '../disk/volume.ts';
import type { NodeMachine } from '../machine.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import { coalesced, draw, type World } from '../world.ts';
import { Heartbeat } from './heartbeat.ts';
import { seeCall, seeWritten } from './sightings.ts';
import { stage, StageBackOff } from './staging.ts';

interface LocalPod {
  readonly uid: string;
  state: 'waiting' | 'mounting' | 'running' | 'stopping';
  container: Container | undefined;
  readonly backOff: StageBackOff;
  /** A refused staging is tried again from then on. */
  retryAtUs: number;
}

export class Kubelet {
  readonly machine: NodeMachine;
  readonly #world: World;
  readonly #volume: Volume;
  readonly #heartbeat: Heartbeat;
  readonly #nudge: () => void;
  #pod: LocalPod | undefined;
  #mount: Mount | undefined;
  /** The last status report said that the volume is in use: mounting waits for that. */
  #reportedInUse = false;
  #addresses = 0;

  constructor(world: World, machine: NodeMachine, volume: Volume) {
    this.machine = machine;
    this.#world = world;
    this.#volume = volume;
    this.#nudge = coalesced(world, kubernetesTimes.volumeReconcile, () => this.#reconcile());
    this.#heartbeat = new Heartbeat(world, machine, {
      inUse: () => this.#attachable && (this.#pod !== undefined || this.#mount !== undefined),
      onReport: (inUse) => {
        this.#reportedInUse = inUse;
        this.#nudge();
      },
    });
    world.api.watch(this.#nudge);
    machine.on('thaw', this.#nudge);
    machine.on('kill', () => this.#killed());
  }

  get container(): Container | undefined {
    return this.#pod?.container;
  }

  get mount(): Mount | undefined {
    return this.#mount;
  }

  /** A shared directory is mounted without being attached, and not reported in use. */
  get #attachable(): boolean {
    return this.#world.settings.disk !== 'shared-file';
  }

  #reconcile(): void {
    if (!this.#heartbeat.heard) return;
    const object = this.#world.api.pod;
    const local = this.#pod;
    if (local === undefined) {
      if (object?.node === this.machine.name) this.#accept(object);
      return;
    }
    const mine = object?.uid === local.uid ? object : undefined;
    if (mine === undefined || mine.terminating) this.#stop(local);
    else if (local.state === 'waiting') this.#mountWhenReady(local);
    else if (local.state === 'running') this.#report(local, mine);
  }

  /** A pod that is to go and of which nothing runs here is confirmed gone. */
  #accept({ uid, terminating }: PodObject): void {
    if (terminating) this.#world.api.removePod(uid);
    else {
      const backOff = new StageBackOff();
      this.#pod = { uid, state: 'waiting', container: undefined, backOff, retryAtUs: 0 };
      this.#reportedInUse = false;
      this.#nudge();
    }
  }

  #report({ container }: LocalPod, object: PodObject): void {
    const { api } = this.#world;
    const index = [...api.nodes.keys()].indexOf(this.machine.name) + 1;
    if (object.phase !== 'Running') this.#addresses += 1;
    api.setPodRunning(object, `10.244.${index}.${this.#addresses}`);
    api.setPodReady(object, container?.ready === true);
  }

  #mountWhenReady(local: LocalPod): void {
    const { machine } = this;
    if (!this.#attachable) {
      local.state = 'mounting';
      this.#publish(local, new Mount(this.#volume, this.#volume.publish(machine.name)));
      return;
    }
    const path = this.#attachedPath();
    if (path === undefined || path.cut || this.#world.kernel.nowUs < local.retryAtUs) return;
    local.state = 'mounting';
    stage({
      ...{ world: this.#world, volume: this.#volume, machine, path },
      done: (mount) => {
        if (mount === undefined) this.#retryLater(local);
        else this.#publish(local, mount);
      },
    });
  }

  /** The device, once the API says that it is attached here and that its use was reported. */
  #attachedPath(): Path | undefined {
    const { api } = this.#world;
    const { name } = this.machine;
    const attachment = api.attachments.get(name);
    const attached = attachment?.attached === true && !attachment.deleting;
    if (!this.#reportedInUse || !attached || !api.node(name).attached) return undefined;
    return this.#volume.published(name);
  }

  #retryLater(local: LocalPod): void {
    const delayUs = local.backOff.next();
    local.state = 'waiting';
    local.retryAtUs = this.#world.kernel.nowUs + delayUs;
    this.machine.byKubelet(delayUs, this.#nudge);
    this.#nudge();
  }

  #publish(local: LocalPod, mount: Mount): void {
    this.#mount = mount;
    this.#see(observed.mounted, { device: mount.path.device });
    const publishAtUs = this.#world.kernel.nowUs;
    this.machine.byKubelet(draw(this.#world, measuredTimes.nodeCall), () => {
      seeCall(this.#world, csiCalls.nodePublish, this.machine.name, publishAtUs);
      this.#run(local);
    });
  }

  #run(local: LocalPod): void {
    if (this.#mount === undefined) return;
    const { uid } = local;
    local.state = 'running';
    local.container = new Container(this.#world, this.machine, this.#mount, uid, this.#nudge);
    this.#nudge();
  }

  #stop(local: LocalPod): void {
    const { container, state } = local;
    if (state === 'stopping' || state === 'mounting') return;
    local.state = 'stopping';
    if (container === undefined) this.#tearDown(local);
    else container.stop(() => this.#tearDown(local));
  }

  /** NodeUnpublish, the API object, NodeUnstage, in this order. */
  #tearDown(local: LocalPod): void {
    const { kernel, api } = this.#world;
    const { name } = this.machine;
    const unpublishAtUs = kernel.nowUs;
    this.machine.byKubelet(draw(this.#world, measuredTimes.nodeCall), () => {
      if (this.#mount !== undefined) {
        seeCall(this.#world, csiCalls.nodeUnpublish, name, unpublishAtUs);
      }
      if (this.#heartbeat.heard) api.removePod(local.uid);
      const unstageAtUs = kernel.nowUs;
      this.machine.byKubelet(draw(this.#world, measuredTimes.nodeCall), () => {
        const staged = this.#mount !== undefined && this.#attachable;
        this.#unmount(() => {
          if (staged) seeCall(this.#world, csiCalls.unstage, name, unstageAtUs);
          this.#pod = undefined;
          this.#nudge();
        });
      });
    });
  }

  /** Waits for what the disk holds. */
  #unmount(done: () => void): void {
    const mount = this.#mount;
    if (mount === undefined) return done();
    mount.unmount(() => {
      this.#mount = undefined;
      seeWritten(this.#world, this.#volume);
      this.#see(observed.unmounted, { device: mount.path.device });
      done();
    });
  }

  /** A killed container's mount namespace ends with a clean unmount: only a cut makes it a crash. */
  #killed(): void {
    this.#pod?.container?.kill();
    this.#unmount(() => undefined);
    this.#pod = undefined;
    this.#reportedInUse = false;
  }

  #see(name: typeof observed.mounted | typeof observed.unmounted, data: { device: string }): void {
    this.#world.see({ source: 'mounts', name, node: this.machine.name, data });
  }
}
