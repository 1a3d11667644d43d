/**
 * A process: what it has under way waits while it stands still, and never happens once it ended. One
 * that needs another (a kubelet its machine, a controller the API server) stands still with it.
 */
import type { Kernel } from './kernel.ts';

type Work = () => void;

export class Process {
  readonly #kernel: Kernel;
  readonly #host: Process | undefined;
  /** Grows at each end: what was under way before it never happens. */
  #life = 0;
  #still = false;
  /** What fell due while it stood still, in order. */
  #held: Work[] = [];

  constructor(kernel: Kernel, host?: Process) {
    this.#kernel = kernel;
    this.#host = host;
  }

  /** It stands still, by itself or with what it needs. */
  get still(): boolean {
    return this.#still || this.#host?.still === true;
  }

  after(delayUs: number, work: Work): void {
    const life = this.#life;
    const go = (): void => {
      if (life !== this.#life) return;
      if (this.#still) this.#held.push(go);
      else work();
    };
    if (this.#host === undefined) this.#kernel.schedule(delayUs, go);
    else this.#host.after(delayUs, go);
  }

  /** Idempotent. */
  standStill(): void {
    this.#still = true;
  }

  /** Idempotent. */
  goOn(): void {
    if (!this.#still) return;
    this.#still = false;
    const held = this.#held;
    this.#held = [];
    for (const go of held) this.#again(go);
  }

  /** What is scheduled from now on belongs to the next one. */
  end(): void {
    this.#life += 1;
    this.#still = false;
    this.#held = [];
  }

  #again(go: Work): void {
    if (this.#host === undefined) this.#kernel.schedule(0, go);
    else this.#host.after(0, go);
  }
}
