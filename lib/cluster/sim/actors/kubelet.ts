/**
 * A kubelet: mounts the volume and runs the database of the pod that is bound to its node, and
 * undoes both when the pod is to go. It acts on the API only while the two hear each other; what
 * runs goes on without.
 */
import { csiCalls, observed } from '../../../history/observations.ts';
import type { PodObject } from '../api.ts';
import { Container } from '../container.ts';
import { Mount } from '../disk/mount.ts';
import type { Volume } from '../disk/volume.ts';
import type { NodeMachine } from '../machine.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import { coalesced, draw, type World } from '../world.ts';
import { Heartbeat } from './heartbeat.ts';
import { seeCall, seeWritten } from './sightings.ts';

interface LocalPod {
  readonly uid: string;
  state: 'waiting' | 'mounting' | 'running' | 'stopping';
  container: Container | undefined;
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
      inUse: () => this.#pod !== undefined || this.#mount !== undefined,
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
    else if (local.state === 'waiting') this.#mountWhenAttached(local);
    else if (local.state === 'running') this.#report(local, mine);
  }

  /** A pod that is to go and of which nothing runs here is confirmed gone. */
  #accept({ uid, terminating }: PodObject): void {
    if (terminating) this.#world.api.removePod(uid);
    else {
      this.#pod = { uid, state: 'waiting', container: undefined };
      this.#reportedInUse = false;
    }
  }

  #report({ container }: LocalPod, object: PodObject): void {
    const { api } = this.#world;
    const index = [...api.nodes.keys()].indexOf(this.machine.name) + 1;
    if (object.phase !== 'Running') this.#addresses += 1;
    api.setPodRunning(object, `10.244.${index}.${this.#addresses}`);
    api.setPodReady(object, container?.ready === true);
  }

  #mountWhenAttached(local: LocalPod): void {
    const { api, kernel } = this.#world;
    const { name } = this.machine;
    const attachment = api.attachments.get(name);
    const attached = attachment?.attached === true && !attachment.deleting;
    if (!this.#reportedInUse || !attached || !api.node(name).attached) return;
    const path = this.#volume.published(name);
    if (path === undefined || path.cut) return;
    local.state = 'mounting';
    const stageAtUs = kernel.nowUs;
    this.machine.after(draw(this.#world, measuredTimes.stage), () => {
      seeWritten(this.#world, this.#volume);
      this.#mount = new Mount(this.#volume, path);
      const { generation, device } = path;
      const { fsck } = this.#mount;
      seeCall(this.#world, csiCalls.stage, name, stageAtUs, { generation, device, fsck });
      this.#see(observed.mounted, { device });
      const publishAtUs = kernel.nowUs;
      this.machine.after(draw(this.#world, measuredTimes.nodeCall), () => {
        seeCall(this.#world, csiCalls.nodePublish, name, publishAtUs);
        this.#run(local);
      });
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
    this.machine.after(draw(this.#world, measuredTimes.nodeCall), () => {
      if (this.#mount !== undefined) {
        seeCall(this.#world, csiCalls.nodeUnpublish, name, unpublishAtUs);
      }
      if (this.#heartbeat.heard) api.removePod(local.uid);
      const unstageAtUs = kernel.nowUs;
      this.machine.after(draw(this.#world, measuredTimes.nodeCall), () => {
        if (this.#mount !== undefined) {
          this.#unmount();
          seeCall(this.#world, csiCalls.unstage, name, unstageAtUs);
        }
        this.#pod = undefined;
        this.#nudge();
      });
    });
  }

  #unmount(): void {
    const mount = this.#mount;
    if (mount === undefined) return;
    mount.unmount();
    this.#mount = undefined;
    seeWritten(this.#world, this.#volume);
    this.#see(observed.unmounted, { device: mount.path.device });
  }

  /** A killed container's mount namespace ends with a clean unmount: only a cut makes it a crash. */
  #killed(): void {
    this.#pod?.container?.kill();
    this.#unmount();
    this.#pod = undefined;
    this.#reportedInUse = false;
  }

  #see(name: typeof observed.mounted | typeof observed.unmounted, data: { device: string }): void {
    this.#world.see({ source: 'mounts', name, node: this.machine.name, data });
  }
}
