/** One node's machine: frozen, killed, booted, taken off the network, starved; its kubelet made to stand still or started anew; and what all that runs there has of it. */
import { stalls, type Stall } from '../run/index.ts';
import { type Kernel, Process } from './kernel.ts';
import type { NodeObject, NoticeCode } from './sightings.ts';
import { cpuWanted, secondUs, type DurationRange } from './timings.ts';
import type { World } from './world.ts';

/** How long a starved machine works on something before it looks again how starved it is. */
const sliceUs = 5 * secondUs;

export interface MachineWatcher {
  booted?(): void;
  shuttingDown?(): void;
  killed?(): void;
  thawed?(): void;
  linkChanged?(): void;
  resumed?(): void;
  restarted?(): void;
  clockSet?(): void;
  /** Who may hear whom, whatever changed. */
  changed?(): void;
}

export class NodeMachine {
  readonly name: string;
  readonly watchers: MachineWatcher[] = [];
  readonly #whole: Process;
  readonly #kubelet: Process;
  readonly #runtime: Process;
  #state: 'running' | 'frozen' | 'stopped' = 'running';
  #connected = true;
  /** Cut off from the control plane alone. */
  #isolated = false;
  #stall: Stall | undefined;
  #cpuShare = 1;
  #shuttingDown = false;
  /** Its clock is behind by so much. */
  clockBackUs = 0;
  /** The CSI driver's pod of this node: without it nothing is mounted or unmounted. */
  driverRuns = true;

  constructor(kernel: Kernel, name: string) {
    this.name = name;
    this.#whole = new Process(kernel);
    this.#kubelet = new Process(kernel, this.#whole);
    this.#runtime = new Process(kernel, this.#kubelet);
  }

  get state(): 'running' | 'frozen' | 'stopped' {
    return this.#state;
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** Until it is stopped. */
  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  /** Whether packets reach a process on this machine, and its answers come out again. */
  get reachable(): boolean {
    return this.#connected && this.#state === 'running';
  }

  /** Whether the kubelet and the API server hear each other. */
  get hearsApi(): boolean {
    return this.reachesApi && !this.stalled.includes('kubelet');
  }

  get reachesApi(): boolean {
    return this.#state === 'running' && this.linked;
  }

  get linked(): boolean {
    return this.#connected && !this.#isolated;
  }

  get stalled(): readonly string[] {
    return this.#stall === undefined ? [] : stalls[this.#stall];
  }

  /** So many times as long everything takes: 1 where it has the CPU time that it wants. */
  get slowness(): number {
    return Math.max(1, cpuWanted / this.#cpuShare);
  }

  /** In this share of the scheduler's periods its processes are stopped. */
  get throttled(): number {
    return 1 - 1 / this.slowness;
  }

  /** Calls `run` on this machine: later when it is frozen then, never when it was killed before. */
  after(delayUs: number, run: () => void): void {
    this.#slowly(this.#whole, delayUs, run);
  }

  /** The same for a timer, which needs no CPU time. */
  sleep(delayUs: number, run: () => void): void {
    this.#whole.after(delayUs, run);
  }

  /** The same for what takes the kubelet to do it: not before it goes on. */
  byKubelet(delayUs: number, run: () => void): void {
    this.#slowly(this.#kubelet, delayUs, run);
  }

  /** The same for what takes the container runtime as well. */
  byRuntime(delayUs: number, run: () => void): void {
    this.#slowly(this.#runtime, delayUs, run);
  }

  freeze(): void {
    if (this.#state !== 'running') return;
    this.#state = 'frozen';
    this.#whole.standStill();
    this.#tell('changed');
  }

  thaw(): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'running';
    this.#whole.goOn();
    this.#tell('thawed');
  }

  /** In order: it is stopped a while later. */
  shutDown(): void {
    if (this.#state !== 'running' || this.#shuttingDown) return;
    this.#shuttingDown = true;
    this.#tell('shuttingDown');
  }

  kill(): void {
    if (this.#state === 'stopped') return;
    this.#shuttingDown = false;
    this.driverRuns = false;
    this.#state = 'stopped';
    this.#whole.end();
    this.#kubelet.end();
    this.#runtime.end();
    this.#stall = undefined;
    this.#isolated = false;
    this.#cpuShare = 1;
    this.#tell('killed');
    this.#tell('changed');
  }

  /** Boots a killed machine, its network restored. */
  start(): void {
    if (this.#state !== 'stopped') return;
    this.#state = 'running';
    this.#connected = true;
    this.#tell('booted');
  }

  setConnected(connected: boolean): void {
    if (this.#connected === connected) return;
    this.#connected = connected;
    this.#tell('linkChanged');
  }

  setIsolated(isolated: boolean): void {
    if (this.#isolated === isolated) return;
    this.#isolated = isolated;
    this.#tell('linkChanged');
  }

  /** The containers run on, with or without their runtime. */
  stall(what: Stall): void {
    if (this.#state === 'stopped') return;
    this.#stall = what;
    if (what === 'containerd') this.#runtime.standStill();
    else this.#kubelet.standStill();
    this.#tell('changed');
  }

  resume(): void {
    if (this.#stall === undefined) return;
    const what = this.#stall;
    this.#stall = undefined;
    this.#kubelet.goOn();
    this.#runtime.goOn();
    this.#tell(what === 'containerd' ? 'changed' : 'resumed');
  }

  /** The kubelet is ended and started again: what it was doing it does again, as far as it knows of it. */
  restartKubelet(): void {
    if (this.#state !== 'running') return;
    if (this.#stall !== 'containerd') this.#stall = undefined;
    this.#kubelet.goOn();
    this.#tell('restarted');
  }

  /** `share`: of one CPU, for all its processes together. Idempotent. */
  throttle(share: number): void {
    this.#cpuShare = share;
    this.#tell('changed');
  }

  unthrottle(): void {
    this.throttle(1);
  }

  /** From what is right. */
  setClockBack(us: number): void {
    this.clockBackUs = us;
    this.#tell('clockSet');
  }

  /** A starved one goes on at full speed as soon as it has its CPU time again. */
  #slowly(process: Process, delayUs: number, run: () => void): void {
    const { slowness } = this;
    if (delayUs * (slowness - 1) < sliceUs) process.after(delayUs * slowness, run);
    else process.after(sliceUs, () => this.#slowly(process, delayUs - sliceUs / slowness, run));
  }

  #tell(event: keyof MachineWatcher): void {
    for (const watcher of this.watchers) watcher[event]?.();
  }
}

export type NodeContext = Pick<OnNode, 'world' | 'machine' | 'node'>;

export class OnNode {
  readonly world: World;
  readonly machine: NodeMachine;
  readonly node: NodeObject;

  constructor({ world, machine, node }: NodeContext) {
    this.world = world;
    this.machine = machine;
    this.node = node;
  }

  get nowUs(): number {
    return this.world.kernel.nowUs;
  }

  byKubelet(range: DurationRange, work: () => void): void {
    this.machine.byKubelet(this.world.chance.within(range), work);
  }

  /** `volume`: its number; -1 where it is about the node alone. */
  notice(code: NoticeCode, volume: number): void {
    this.world.notice(code, this.node.index, volume);
  }
}
