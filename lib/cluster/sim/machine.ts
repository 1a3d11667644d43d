/** One node's machine: it can be frozen, killed, booted and taken off the network. */
import type { Kernel } from './kernel.ts';

type Listener = () => void;

export class NodeMachine {
  readonly name: string;
  readonly #kernel: Kernel;
  #state: 'running' | 'frozen' | 'stopped' = 'running';
  #connected = true;
  /** Grows at each kill: what was under way before it never happens. */
  #life = 0;
  /** What fell due while frozen, in order. */
  #held: Listener[] = [];
  readonly #listeners = new Map<'boot' | 'kill' | 'thaw' | 'link', Listener[]>();

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

  on(event: 'boot' | 'kill' | 'thaw' | 'link', listener: Listener): void {
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

  #tell(event: 'boot' | 'kill' | 'thaw' | 'link'): void {
    for (const listener of this.#listeners.get(event) ?? []) listener();
  }
}
