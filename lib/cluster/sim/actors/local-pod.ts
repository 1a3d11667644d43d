/** A pod on a node as its kubelet runs it: waits for its volume, runs the database, ends it. */
import { csiCalls } from '../../../history/observations.ts';
import type { PodObject } from '../api-objects.ts';
import { Container } from '../container.ts';
import type { OnNode } from '../machine.ts';
import { notices } from '../notices.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import type { World } from '../world.ts';
import type { NodeVolume } from './node-volume.ts';
import { SelfFence } from './self-fence.ts';
import { seeCall } from './sightings.ts';

export interface LocalPodOptions extends OnNode {
  readonly object: PodObject;
  readonly volume: NodeVolume;
  /** Something changed: the kubelet looks again. */
  readonly onChange: () => void;
}

export class LocalPod {
  readonly object: PodObject;
  readonly volume: NodeVolume;
  readonly #options: LocalPodOptions;
  #state: 'waiting' | 'mounting' | 'running' | 'stopping' | 'stopped' | 'unmounted' = 'waiting';
  #container: Container | undefined;
  #selfFence: SelfFence | undefined;
  #published = false;

  constructor(options: LocalPodOptions) {
    this.#options = options;
    this.object = options.object;
    this.volume = options.volume;
    this.volume.wanted += 1;
  }

  get container(): Container | undefined {
    return this.#container;
  }

  /** Nothing of it is left on the node. */
  get isOver(): boolean {
    return this.#state === 'unmounted';
  }

  /** What there is to do, while the kubelet hears the API. */
  reconcile(): void {
    const { api } = this.#options.world;
    const isWanted =
      api.pods.has(this.object) && !this.object.terminating && this.object.phase !== 'Failed';
    if (!isWanted) this.#stop();
    else if (this.#state === 'waiting') this.#mount();
    else if (this.#state === 'running') this.#report();
    if (this.#state === 'stopped') api.setContainersStopped(this.object);
    if (this.#state === 'unmounted') api.removePod(this.object);
  }

  /** The Lease of its node is renewed again, or no longer. */
  leaseChanged(): void {
    this.#selfFence?.leaseChanged();
  }

  /** The kubelet starts anew. */
  kubeletRestarted(): void {
    if (this.#options.world.settings.traits.readyLostOnKubeletRestart)
      this.#container?.forgetProbe();
  }

  /** With its machine. */
  kill(): void {
    this.#container?.kill();
    this.#selfFence?.end();
  }

  #mount(): void {
    const { world, volume, onChange } = this.#options;
    // ReadWriteOncePod: not while another pod here has it (IsVolumeMountedElsewhere).
    if (world.of(volume.index).accessMode === 'ReadWriteOncePod' && volume.users > 0) return;
    const mount = volume.obtain();
    if (mount === undefined) return;
    this.#state = 'mounting';
    this.#published = true;
    volume.users += 1;
    const beganAtUs = world.kernel.nowUs;
    this.#byKubelet(measuredTimes.nodeCall, () => {
      seeCall(world, volume.index, csiCalls.nodePublish, this.#options.machine.name, beganAtUs);
      this.#run();
      onChange();
    });
  }

  #run(): void {
    const { world, machine, volume, onChange } = this.#options;
    const { mount } = volume;
    if (mount === undefined) return;
    this.#state = 'running';
    if (volume.users > 1) world.notice(notices.sameNodeOverlap, machine.index, volume.index);
    const container = new Container(world, machine, mount, this.object.uid, onChange);
    this.#container = container;
    world.notice(notices.containerStarted, machine.index, volume.index);
    if (world.of(volume.index).selfFence === 'off') return;
    this.#selfFence = new SelfFence({ ...this.#options, container, pod: this.object });
  }

  #report(): void {
    const { world, node } = this.#options;
    const container = this.#container;
    if (container === undefined) return;
    const { api } = world;
    if (container.running)
      api.setPodRunning(this.object, `10.244.${node.index + 1}.${addressOf(this.object)}`);
    else api.setContainersStopped(this.object);
    api.setPodReady(this.object, container.ready);
    container.probeAgain();
  }

  #stop(): void {
    if (this.#state === 'waiting') return this.#containersEnded();
    if (this.#state !== 'running') return;
    this.#state = 'stopping';
    const { world, machine, volume } = this.#options;
    const { preStopUs, terminationGraceUs } = world.of(volume.index);
    const container = this.#container;
    machine.byKubelet(preStopUs, () => {
      if (container === undefined) this.#containersEnded();
      else container.stop(() => this.#containersEnded());
    });
    const graceUs = Math.max(kubernetesTimes.leastGraceUs, terminationGraceUs);
    machine.byKubelet(graceUs, () => this.#killContainer());
  }

  /** What waits for the disk can't be killed. */
  #killContainer(): void {
    if (this.#state !== 'stopping' || (this.volume.mount?.path.held ?? 0) > 0) return;
    this.#container?.kill();
    this.#containersEnded();
  }

  /** The status first, then NodeUnpublish, then the API object; NodeUnstage is the volume's. */
  #containersEnded(): void {
    if (this.#state !== 'waiting' && this.#state !== 'stopping') return;
    this.#selfFence?.end();
    this.#state = 'stopped';
    const { onChange } = this.#options;
    onChange();
    this.#byKubelet(measuredTimes.statusUpdate, () => this.#unpublish());
  }

  #unpublish(): void {
    const { world, machine, volume, onChange } = this.#options;
    const beganAtUs = world.kernel.nowUs;
    this.#byKubelet(measuredTimes.nodeCall, () => {
      if (this.#published) {
        seeCall(world, volume.index, csiCalls.nodeUnpublish, machine.name, beganAtUs);
        volume.users -= 1;
      }
      volume.wanted -= 1;
      this.#state = 'unmounted';
      onChange();
    });
  }

  #byKubelet(range: Parameters<World['chance']['within']>[0], run: () => void): void {
    const { world, machine } = this.#options;
    machine.byKubelet(world.chance.within(range), run);
  }
}

/** A pod's own address within its node's range: pods are numbered. */
const addressOf = ({ uid }: PodObject): string => uid.slice('pod-'.length);
