/** A pod on a node as its kubelet runs it: waits for its volume, runs the database, ends it. */
import { csiCalls } from '../../history/index.ts';
import type { PodObject } from '../api-objects.ts';
import { Container } from '../container.ts';
import { notices } from '../notices.ts';
import { OnNode, type NodeContext } from '../on-node.ts';
import { seeCall } from '../sightings.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import type { NodeVolume } from './node-volume.ts';
import { SelfFence } from './self-fence.ts';

export class LocalPod extends OnNode {
  readonly object: PodObject;
  readonly volume: NodeVolume;
  readonly #onChange: () => void;
  #state: 'waiting' | 'mounting' | 'running' | 'stopping' | 'stopped' | 'unmounted' = 'waiting';
  #container: Container | undefined;
  #selfFence: SelfFence | undefined;
  #published = false;

  /** `onChange`: something changed, so that the kubelet looks again. */
  constructor(on: NodeContext, object: PodObject, volume: NodeVolume, onChange: () => void) {
    super(on);
    this.object = object;
    this.volume = volume;
    this.#onChange = onChange;
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
    const { object } = this;
    const { api } = this.world;
    const isWanted = api.pods.has(object) && !object.terminating && object.phase !== 'Failed';
    if (!isWanted) this.#stop();
    else if (this.#state === 'waiting') this.#mount();
    else if (this.#state === 'running') this.#report();
    if (this.#state === 'stopped') api.setContainersStopped(object);
    if (this.#state === 'unmounted') api.removePod(object);
  }

  /** The Lease of its node is renewed again, or no longer. */
  leaseChanged(): void {
    this.#selfFence?.leaseChanged();
  }

  /** The kubelet starts anew. */
  kubeletRestarted(): void {
    if (this.world.settings.traits.readyLostOnKubeletRestart) this.#container?.forgetProbe();
  }

  /** With its machine. */
  kill(): void {
    this.#container?.kill();
    this.#selfFence?.end();
  }

  #mount(): void {
    const { world, volume } = this;
    // ReadWriteOncePod: not while another pod here has it (IsVolumeMountedElsewhere).
    if (world.of(volume.index).accessMode === 'ReadWriteOncePod' && volume.users > 0) return;
    if (volume.obtain() === undefined) return;
    this.#state = 'mounting';
    this.#published = true;
    volume.users += 1;
    const beganAtUs = this.nowUs;
    this.byKubelet(measuredTimes.nodeCall, () => {
      seeCall(world, volume.index, csiCalls.nodePublish, this.node.name, beganAtUs);
      this.#run();
      this.#onChange();
    });
  }

  #run(): void {
    const { world, volume } = this;
    const { mount } = volume;
    if (mount === undefined) return;
    this.#state = 'running';
    if (volume.users > 1) this.notice(notices.sameNodeOverlap, volume.index);
    const container = new Container(this, mount, this.object.uid, this.#onChange);
    this.#container = container;
    this.notice(notices.containerStarted, volume.index);
    if (world.of(volume.index).selfFence !== 'off')
      this.#selfFence = new SelfFence(this, this.object, container);
  }

  #report(): void {
    const container = this.#container;
    if (container === undefined) return;
    const { api } = this.world;
    // A pod's own address within its node's range: pods are numbered.
    const own = this.object.uid.slice('pod-'.length);
    if (container.running) api.setPodRunning(this.object, `10.244.${this.node.index + 1}.${own}`);
    else api.setContainersStopped(this.object);
    api.setPodReady(this.object, container.ready);
    container.probeAgain();
  }

  #stop(): void {
    if (this.#state === 'waiting') return this.#containersEnded();
    if (this.#state !== 'running') return;
    this.#state = 'stopping';
    const { preStopUs, terminationGraceUs } = this.world.of(this.volume.index);
    const container = this.#container;
    this.machine.byKubelet(preStopUs, () => {
      if (container === undefined) this.#containersEnded();
      else container.stop(() => this.#containersEnded());
    });
    const graceUs = Math.max(kubernetesTimes.leastGraceUs, terminationGraceUs);
    this.machine.byKubelet(graceUs, () => this.#killContainer());
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
    this.#onChange();
    this.byKubelet(measuredTimes.statusUpdate, () => this.#unpublish());
  }

  #unpublish(): void {
    const { world, volume } = this;
    const beganAtUs = this.nowUs;
    this.byKubelet(measuredTimes.nodeCall, () => {
      if (this.#published) {
        seeCall(world, volume.index, csiCalls.nodeUnpublish, this.node.name, beganAtUs);
        volume.users -= 1;
      }
      volume.wanted -= 1;
      this.#state = 'unmounted';
      this.#onChange();
    });
  }
}
