/** A kubelet: runs the pods that are bound to its node, with their volumes, and ends those that are to go. It acts on the API only while it hears of its pods there; what runs goes on without. */
import { Heartbeat } from './heartbeat.ts';
import { NodeVolume } from './node-volume.ts';
import { isUncertain } from '../disk/calls.ts';
import type { Mount } from '../disk/mount.ts';
import type { Volume } from '../disk/volume.ts';
import { BackOff, type Chance, coalesced } from '../kernel.ts';
import { OnNode, type NodeContext, type MachineWatcher } from '../machine.ts';
import { Container } from '../server.ts';
import { isOver, type PodObject, notices, selfFenceOf } from '../sightings.ts';
import { measuredTimes, kubernetesTimes } from '../timings.ts';
import { draw } from '../world.ts';

/**
 * The sidecar of lib/run/self-fence: it ends the database once it has not seen its node's Lease renewed
 * for so long, and lets it go on when the Lease is renewed again. It needs the node to run, and neither
 * kubelet nor runtime.
 */
class SelfFence extends OnNode {
  readonly #pod: PodObject;
  readonly #container: Container;
  /** Grows with each change of what it sees: an older deadline no longer counts. */
  #changes = 0;
  #shut = false;
  #over = false;

  constructor(on: NodeContext, pod: PodObject, container: Container) {
    super(on);
    this.#pod = pod;
    this.#container = container;
    this.leaseChanged();
  }

  /** The Lease is renewed again or no longer, or can be seen again or no longer. */
  leaseChanged(): void {
    if (this.#over) return;
    this.#changes += 1;
    const { node, machine, world } = this;
    const { selfFenceAfterUs } = world.of(this.#pod.workload);
    const isRenewed =
      node.leaseStoppedAtUs === undefined && machine.reachesApi && !world.apiServer.still;
    if (isRenewed) this.#after(0, () => this.#open());
    else this.#after(selfFenceAfterUs, () => this.#fence());
  }

  end(): void {
    this.#over = true;
  }

  #say(text: string): void {
    this.world.see?.(selfFenceOf(this.node.name, this.#pod.workload, text));
  }

  /** After the next question, and so much more. */
  #after(delayUs: number, run: () => void): void {
    const changes = this.#changes;
    const lastUs = this.node.leaseStoppedAtUs ?? this.nowUs;
    const dueUs = lastUs + this.world.chance.within(measuredTimes.selfFenceAsk) + delayUs;
    this.machine.after(Math.max(0, dueUs - this.nowUs), () => {
      if (changes === this.#changes && !this.#over) run();
    });
  }

  #fence(): void {
    if (this.#shut) return;
    this.#shut = true;
    const { workload } = this.#pod;
    const { database } = this.world;
    const isReadOnly = this.world.of(workload).selfFence.kind === 'lease-read-only';
    this.#say(`shut: no renewal; killed ${database.server} (model)`);
    const onReadOnly = (): void => this.#say(`read-only: ${database.pod.dataFolder}`);
    this.#container.fence(isReadOnly ? onReadOnly : undefined);
    this.notice(notices.selfFenced, workload);
  }

  /** Only where the pod is still wanted. */
  #open(): void {
    const pod = this.#pod;
    if (!this.#shut || !this.world.api.pods.has(pod) || pod.terminating) return;
    this.#shut = false;
    this.#container.unfence();
    this.#say('open: the Lease is renewed and the pod is wanted');
    this.notice(notices.selfFenceOpened, pod.workload);
  }
}

class LocalPod extends OnNode {
  readonly object: PodObject;
  readonly volume: NodeVolume;
  readonly #onChange: () => void;
  #state: 'waiting' | 'mounting' | 'running' | 'stopping' | 'stopped' | 'unmounted' = 'waiting';
  #container: Container | undefined;
  #selfFence: SelfFence | undefined;
  #published = false;
  readonly #mountBackOff = new BackOff(kubernetesTimes.volumeBackOff);
  readonly #unmountBackOff = new BackOff(kubernetesTimes.volumeBackOff);
  #mountAtUs = 0;
  #wasKilled = false;
  /** An unmount failed, or its driver has ended. */
  #gaveUp = false;
  /** Its kubelet ends it without a deletion, within so long: the node shuts down. */
  #endsWithinUs: number | undefined;

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

  /** A shutdown waits no longer for it: the first failed unmount ends that (WaitForAllPodsUnmount). */
  get isDone(): boolean {
    return this.isOver || this.#gaveUp;
  }

  /** What there is to do, while the kubelet hears the API. */
  reconcile(): void {
    const { object } = this;
    const { api } = this.world;
    const isWanted =
      api.pods.has(object) &&
      !object.terminating &&
      !isOver(object) &&
      this.#endsWithinUs === undefined;
    if (!isWanted) this.#stop();
    else if (this.#state === 'waiting') this.#mount();
    else if (this.#state === 'running') this.#report();
    if (this.#state === 'stopped') api.setContainersStopped(object);
    const isEnded = this.#state === 'stopped' || this.#state === 'unmounted';
    if (this.#endsWithinUs !== undefined && isEnded) this.#showEnd();
    else if (this.#state === 'unmounted') api.removePod(object);
  }

  /** Terminal only once no container can run (status_manager.go mergePodStatus). */
  #showEnd(): void {
    const { object } = this;
    const { api } = this.world;
    if (!api.pods.has(object)) return;
    api.setPodReady(object, false);
    api.endPod(object, this.#wasKilled ? 'Failed' : 'Succeeded');
    if (object.terminating && this.isOver) api.removePod(object);
  }

  /** By its kubelet, since the node shuts down. */
  endWithin(graceUs: number): void {
    this.#endsWithinUs = graceUs;
    this.#stop();
  }

  /** The machine has booted, and of this pod there is a folder with a volume (reconstruct.go). */
  find(): void {
    this.#wasKilled = true;
    this.#endsWithinUs = 0;
    this.#setPublished(true);
    this.#containersEnded();
  }

  /** Its machine is killed: whether a folder with its volume stays. */
  get leavesFolder(): boolean {
    return this.#published;
  }

  /** By the machine's own first process, after its kubelet. `done`: nothing of it runs. */
  endByMachine(done: () => void): void {
    this.#selfFence?.end();
    if (this.#container === undefined) done();
    else this.#container.stop(done);
  }

  leaseChanged(): void {
    this.#selfFence?.leaseChanged();
  }

  kubeletRestarted(): void {
    if (this.world.settings.traits.readyLostOnKubeletRestart) this.#container?.forgetProbe();
  }

  kill(): void {
    this.#container?.kill();
    this.#selfFence?.end();
  }

  #mount(): void {
    const { world, volume } = this;
    // ReadWriteOncePod: not while another pod here has it (IsVolumeMountedElsewhere).
    if (world.of(volume.index).volume.accessMode === 'ReadWriteOncePod' && volume.users > 0) return;
    if (this.nowUs < this.#mountAtUs || !this.machine.driverRuns) return;
    if (volume.obtain() === undefined) return;
    this.#state = 'mounting';
    this.#setPublished(true);
    const beganAtUs = this.nowUs;
    const answered = (error: string | undefined): void => {
      if (error === undefined) this.#run();
      else this.#mountLater(error);
      this.#onChange();
    };
    this.byKubelet(measuredTimes.nodeCall, () =>
      volume.call('nodePublish', beganAtUs, (end) => end(), answered),
    );
  }

  #setPublished(published: boolean): void {
    if (this.#published !== published) this.volume.users += published ? 1 : -1;
    this.#published = published;
  }

  /** What may be under way is unmounted with the pod (markVolumeErrorState). */
  #mountLater(error: string): void {
    this.#state = 'waiting';
    if (!isUncertain(error)) this.#setPublished(false);
    this.volume.tellFailed('MountVolume.SetUp failed for volume: the driver refused it');
    const delayUs = this.#mountBackOff.next();
    this.#mountAtUs = this.nowUs + delayUs;
    this.machine.byKubelet(delayUs, this.#onChange);
  }

  #run(): void {
    const { world, volume } = this;
    const { mount } = volume;
    if (mount === undefined) return;
    this.#state = 'running';
    if (volume.servers > 0) this.notice(notices.sameNodeOverlap, volume.index);
    volume.servers += 1;
    const container = new Container(this, mount, this.object.uid, this.#onChange);
    this.#container = container;
    this.notice(notices.containerStarted, volume.index);
    if (world.of(volume.index).selfFence.kind !== 'off')
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
    this.machine.byRuntime(preStopUs, () => {
      if (container === undefined) this.#containersEnded();
      else container.stop(() => this.#containersEnded());
    });
    const mostUs = Math.min(terminationGraceUs, this.#endsWithinUs ?? Infinity);
    const graceUs = Math.max(kubernetesTimes.leastGraceUs, mostUs);
    this.machine.byRuntime(graceUs, () => this.#killContainer());
  }

  /** What waits for the disk can't be killed. */
  #killContainer(): void {
    if (this.#state !== 'stopping' || (this.volume.mount?.path.held ?? 0) > 0) return;
    this.#wasKilled = true;
    this.#container?.kill();
    this.#containersEnded();
  }

  /** The status first, then NodeUnpublish, then the API object; NodeUnstage is the volume's. */
  #containersEnded(): void {
    if (this.#state !== 'waiting' && this.#state !== 'stopping') return;
    this.#selfFence?.end();
    if (this.#container !== undefined) this.volume.servers -= 1;
    this.#state = 'stopped';
    this.#onChange();
    this.byKubelet(measuredTimes.statusUpdate, () => this.#unpublish());
  }

  #unpublish(): void {
    const beganAtUs = this.nowUs;
    this.byKubelet(measuredTimes.nodeCall, () => {
      if (!this.#published) return this.#unmounted();
      if (!this.machine.driverRuns) return this.#unpublishLater();
      this.volume.call(
        'nodeUnpublish',
        beganAtUs,
        (end) => end(),
        (error) => {
          if (error === undefined) this.#unmounted();
          else this.#unpublishLater();
        },
      );
    });
  }

  #unpublishLater(): void {
    this.#gaveUp = true;
    this.#onChange();
    this.machine.byKubelet(this.#unmountBackOff.next(), () => this.#unpublish());
  }

  #unmounted(): void {
    this.#setPublished(false);
    this.volume.wanted -= 1;
    this.#state = 'unmounted';
    this.#onChange();
  }
}

interface KubeletOptions extends NodeContext {
  readonly chance: Chance;
  readonly volumes: readonly Volume[];
}

export class Kubelet extends OnNode implements MachineWatcher {
  readonly #options: KubeletOptions;
  readonly #heartbeat: Heartbeat;
  readonly #pods = new Map<PodObject, LocalPod>();
  /** Volumes that it ever had to do with, by number. */
  readonly #volumes = new Map<number, NodeVolume>();
  /** Pods whose folder with a volume the machine's disk kept when it was killed. */
  readonly #folders = new Set<PodObject>();
  #nudge: () => void;
  #onPodsOver: (() => void) | undefined;
  readonly #onChange = (): void => this.#nudge();

  constructor(options: KubeletOptions) {
    super(options);
    this.#options = options;
    this.#nudge = this.#newNudge();
    const nudge = this.#onChange;
    const onReport = (): void => this.#report();
    const onInformed = (): void => {
      this.#startDriver();
      nudge();
    };
    this.#heartbeat = new Heartbeat(this, options.chance, { onReport, onInformed });
    const lease = (): void => this.#leaseChanged();
    this.world.api.watchNode(this.node, { node: nudge, pod: nudge, attachment: nudge, lease });
    this.machine.watchers.push(this);
  }

  thawed(): void {
    this.#nudge();
  }

  booted(): void {
    this.world.api.registerNode(this.node);
    for (const volume of this.#volumes.values()) volume.booted();
  }

  #startDriver(): void {
    const { machine } = this;
    if (machine.driverRuns || machine.shuttingDown) return;
    this.byKubelet(measuredTimes.driverStart, () => {
      machine.driverRuns = true;
      this.#nudge();
    });
  }

  /**
   * Without a grace period it knows nothing of a shutdown, and is ended by it. With one it ends the pods
   * first, waits for their unmounts, and then ends the critical ones, the driver's among them
   * (nodeshutdown_manager.go killPods).
   */
  shuttingDown(): void {
    const { podsEndWithinUs, driverEnds } = this.world.settings;
    this.byKubelet(measuredTimes.shutdownBegin, () => {
      if (podsEndWithinUs === 0) return this.#endWithMachine();
      if (driverEnds === 'with-pods') this.#endDriver(() => undefined);
      for (const pod of this.#pods.values()) pod.endWithin(podsEndWithinUs);
      const next = (): void => {
        if (driverEnds === 'last') this.#endDriver(() => this.#endWithMachine());
        else this.#endWithMachine();
      };
      this.#oncePodsAreOver(podsEndWithinUs, next);
    });
  }

  #endDriver(done: () => void): void {
    this.byKubelet(measuredTimes.driverStop, () => {
      this.machine.driverRuns = false;
      done();
    });
  }

  #oncePodsAreOver(mostUs: number, then: () => void): void {
    let isPast = false;
    const once = (): void => {
      if (isPast) return;
      isPast = true;
      this.#onPodsOver = undefined;
      then();
    };
    this.#onPodsOver = once;
    this.machine.byKubelet(mostUs, once);
  }

  /** The kubelet is the first to go, then what runs in containers, then the mounts. */
  #endWithMachine(): void {
    const { machine, world } = this;
    machine.stall('kubelet');
    let left = this.#pods.size;
    const { powerOff, powerOffWithPods } = measuredTimes;
    const lastsUs = draw(world, world.settings.podsEndWithinUs > 0 ? powerOff : powerOffWithPods);
    const off = (): void => machine.after(lastsUs, () => machine.kill());
    if (left === 0) return off();
    for (const pod of this.#pods.values())
      pod.endByMachine(() => {
        left -= 1;
        if (left === 0) off();
      });
  }

  restarted(): void {
    this.notice(notices.kubeletRestarted, -1);
    this.world.api.registerNode(this.node);
    for (const pod of this.#pods.values()) pod.kubeletRestarted();
    for (const volume of this.#volumes.values()) volume.kubeletRestarted();
    this.#nudge();
  }

  killed(): void {
    for (const [object, pod] of this.#pods) {
      if (pod.leavesFolder) this.#folders.add(object);
      pod.kill();
    }
    for (const volume of this.#volumes.values()) volume.killed();
    this.#pods.clear();
    this.#onPodsOver = undefined;
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

  apiChanged(): void {
    this.#heartbeat.apiChanged();
    this.#leaseChanged();
  }

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
    if (this.#onPodsOver !== undefined && [...this.#pods.values()].every(({ isDone }) => isDone))
      this.#onPodsOver();
    for (const [object, pod] of this.#pods)
      if (pod.isOver && !this.world.api.pods.has(object)) this.#pods.delete(object);
    for (const volume of this.#volumes.values()) volume.settle();
    this.#heartbeat.reportSoon(this.#hasNews());
  }

  #followApi(): void {
    for (const object of this.#folders) this.#find(object);
    this.#folders.clear();
    for (const object of this.node.pods) if (!this.#pods.has(object)) this.#accept(object);
    for (const pod of this.#pods.values()) pod.reconcile();
  }

  /** What it left there is unmounted, unless the pod is still to run. */
  #find(object: PodObject): void {
    if (this.world.api.pods.has(object) && !object.terminating && !isOver(object)) return;
    this.#hold(object).find();
  }

  /** A pod that is to go and of which nothing is here is confirmed gone. */
  #accept(object: PodObject): void {
    if (object.terminating) return this.world.api.removePod(object);
    // Admit of nodeshutdown_manager_linux.go.
    if (this.machine.shuttingDown) return this.world.api.endPod(object, 'Failed');
    // What a pod is to have is reported, whatever was found there (GetVolumesInUse).
    this.#hold(object).volume.unattachable = false;
    this.#nudge();
  }

  #hold(object: PodObject): LocalPod {
    const pod = new LocalPod(this, object, this.#volume(object.workload), this.#onChange);
    this.#pods.set(object, pod);
    return pod;
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
