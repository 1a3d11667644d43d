/** One node's machine: frozen, killed, booted, taken off the network, its kubelet made to stand still. */
import { stalls, type Stall } from '../port.ts';
import type { Kernel } from './kernel.ts';

type Listener = () => void;
type MachineEvent = 'boot' | 'kill' | 'thaw' | 'link' | 'resume';

export class NodeMachine {
  readonly name: string;
  readonly #kernel: Kernel;
  #state: 'running' | 'frozen' | 'stopped' = 'running';
  #connected = true;
  /** Cut off from the control plane alone. */
  #isolated = false;
  #stall: Stall | undefined;
  /** What the kubelet was to do while it stood still, in order. */
  #heldByKubelet: Listener[] = [];
  /** Grows at each kill: what was under way before it never happens. */
  #life = 0;
  /** What fell due while frozen, in order. */
  #held: Listener[] = [];
  readonly #listeners = new Map<MachineEvent, Listener[]>();

  constructor(kernel: Kernel, name: string) {
    this.#kernel = kernel;
    this.name = name;
  }

  get state(): 'running' | 'frozen' | 'stopped' {
    return this.#state;
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** Whether packets reach a process on this machine, and its answers come out again. */
  get reachable(): boolean {
    return this.#connected && this.#state === 'running';
  }

  /** Whether the kubelet and the API server hear each other. */
  get hearsApi(): boolean {
    return this.reachesApi && this.#stall === undefined;
  }

  get reachesApi(): boolean {
    return this.#state === 'running' && this.linked;
  }

  /** Whether there is a way to the API server. */
  get linked(): boolean {
    return this.#connected && !this.#isolated;
  }

  get stalled(): readonly string[] {
    return this.#stall === undefined ? [] : stalls[this.#stall];
  }

  on(event: MachineEvent, listener: Listener): void {
    const listeners = this.#listeners.get(event) ?? [];
    listeners.push(listener);
    this.#listeners.set(event, listeners);
  }

  /** Calls `run` on this machine: later when it is frozen then, never when it was killed before. */
  after(delayUs: number, run: Listener): void {
    const life = this.#life;
    this.#kernel.schedule(delayUs, () => {
      if (life !== this.#life) return;
      if (this.#state === 'frozen') this.#held.push(run);
      else run();
    });
  }

  /** The same for what takes the kubelet to do it: not before it goes on. */
  byKubelet(delayUs: number, run: Listener): void {
    this.after(delayUs, () => {
      if (this.#stall === undefined) run();
      else this.#heldByKubelet.push(run);
    });
  }

  freeze(): void {
    if (this.#state === 'running') this.#state = 'frozen';
  }

  thaw(): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'running';
    const held = this.#held;
    this.#held = [];
    for (const run of held) this.after(0, run);
    this.#tell('thaw');
  }

  kill(): void {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#life += 1;
    this.#held = [];
    this.#heldByKubelet = [];
    this.#stall = undefined;
    this.#isolated = false;
    this.#tell('kill');
  }

  /** Boots a killed machine, its network restored. */
  start(): void {
    if (this.#state !== 'stopped') return;
    this.#state = 'running';
    this.#connected = true;
    this.#tell('boot');
  }

  setConnected(connected: boolean): void {
    if (this.#connected === connected) return;
    this.#connected = connected;
    this.#tell('link');
  }

  setIsolated(isolated: boolean): void {
    if (this.#isolated === isolated) return;
    this.#isolated = isolated;
    this.#tell('link');
  }

  /** The containers run on, with or without their runtime. */
  stall(what: Stall): void {
    if (this.#state !== 'stopped') this.#stall = what;
  }

  resume(): void {
    if (this.#stall === undefined) return;
    this.#stall = undefined;
    const held = this.#heldByKubelet;
    this.#heldByKubelet = [];
    for (const run of held) this.byKubelet(0, run);
    this.#tell('resume');
  }

  #tell(event: MachineEvent): void {
    for (const listener of this.#listeners.get(event) ?? []) listener();
  }
}
