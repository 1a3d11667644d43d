/**
 * A process: what it has under way waits while it stands still, and never happens once it ended. One
 * that needs another (a kubelet its machine, a controller the API server) stands still with it.
 */
import type { Chance } from './chance.ts';
import type { Kernel, TimerOwner, Timer } from './kernel.ts';
import type { DurationRange } from './timings.ts';

export class Process implements TimerOwner {
  readonly #kernel: Kernel;
  readonly #host: Process | undefined;
  /** Grows at each end: what was under way before it never happens. */
  #life = 0;
  #still = false;
  /** What fell due while it stood still, in order. */
  #held: Timer[] = [];

  constructor(kernel: Kernel, host?: Process) {
    this.#kernel = kernel;
    this.#host = host;
  }

  get life(): number {
    return this.#life;
  }

  /** It stands still, by itself or with what it needs. */
  get still(): boolean {
    return this.#still || this.#host?.still === true;
  }

  after(delayUs: number, work: () => void): void {
    this.#kernel.schedule(delayUs, work, this);
  }

  /** Whether what fell due happens now. */
  admits(timer: Timer): boolean {
    return timer.life === this.#life && !this.#holds(timer);
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
    for (const timer of held) this.#kernel.again(timer);
  }

  /** What is scheduled from now on belongs to the next one. */
  end(): void {
    this.#life += 1;
    this.#still = false;
    this.#held = [];
  }

  #holds(timer: Timer): boolean {
    if (this.#host !== undefined && this.#host.#holds(timer)) return true;
    if (this.#still) this.#held.push(timer);
    return this.#still;
  }
}

/**
 * Level-triggered work: any number of nudges before its delay is over make one reconcile. Give an `after`
 * that forgets what it has under way only together with what is returned.
 */
export function coalesced(
  after: Process['after'],
  chance: Chance,
  range: DurationRange,
  reconcile: () => void,
): () => void {
  let pending = false;
  const run = (): void => {
    pending = false;
    reconcile();
  };
  return () => {
    if (pending) return;
    pending = true;
    after(chance.within(range), run);
  };
}

/** Waits between tries that fail, each twice as long as the one before, up to a limit. */
export class BackOff {
  readonly #range: { readonly firstUs: number; readonly maxUs: number };
  #nextUs: number;

  constructor(range: { readonly firstUs: number; readonly maxUs: number }) {
    this.#range = range;
    this.#nextUs = range.firstUs;
  }

  /** How long to wait now; the next wait is longer. */
  next(): number {
    const delayUs = this.#nextUs;
    this.#nextUs = Math.min(this.#range.maxUs, delayUs * 2);
    return delayUs;
  }

  reset(): void {
    this.#nextUs = this.#range.firstUs;
  }
}
