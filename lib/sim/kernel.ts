/** Virtual time: the event kernel, chance without a generator's state, and processes that wait with what they need. */
import { key32, mix32 } from '../core/index.ts';
import type { DurationRange } from './timings.ts';

export interface Timer {
  atUs: number;
  seq: number;
  /** Undefined once it fired or was cancelled. */
  run: (() => void) | undefined;
  readonly owner: TimerOwner | undefined;
  /** Its owner's, when it was scheduled. */
  readonly life: number;
}

/** Whose a timer is: asked when it is due whether it fires now. One object, where closures were three. */
interface TimerOwner {
  readonly life: number;
  admits(timer: Timer): boolean;
}

/**
 * The event kernel: integer virtual time in microseconds and a binary heap of timers. Ties are
 * broken by the order of scheduling, so a run depends on nothing but its seed.
 */
export class Kernel {
  readonly #heap: Timer[] = [];
  #nowUs = 0;
  #seq = 0;

  get nowUs(): number {
    return this.#nowUs;
  }

  /** Calls `run` so much later; 0 means after everything that is due now. Fractions are rounded. */
  schedule(delayUs: number, run: () => void, owner?: TimerOwner): Timer {
    const atUs = this.#nowUs + Math.max(0, Math.round(delayUs));
    const timer: Timer = { atUs, seq: this.#seq++, run, owner, life: owner?.life ?? 0 };
    this.#push(timer);
    return timer;
  }

  /** One that its owner kept from firing is due again, after everything that is due now. */
  again(timer: Timer): void {
    timer.atUs = this.#nowUs;
    timer.seq = this.#seq++;
    this.#push(timer);
  }

  /** Idempotent; a timer that fired already is left alone. */
  cancel(timer: Timer | undefined): void {
    if (timer !== undefined) timer.run = undefined;
  }

  step(): boolean {
    for (let timer = this.#pop(); timer !== undefined; timer = this.#pop()) {
      const { run, owner } = timer;
      if (run === undefined) continue;
      this.#nowUs = timer.atUs;
      if (owner?.admits(timer) === false) return true;
      timer.run = undefined;
      run();
      return true;
    }
    return false;
  }

  /** Runs everything that is due until then, and sets the time to it. */
  runUntil(untilUs: number): void {
    for (let next = this.#heap[0]; next !== undefined && next.atUs <= untilUs; next = this.#heap[0])
      if (next.run === undefined) this.#pop();
      else this.step();
    this.#nowUs = Math.max(this.#nowUs, untilUs);
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(timer);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || !isBefore(timer, parent)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = timer;
  }

  #pop(): Timer | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      let child = heap[childAt];
      if (child === undefined) break;
      const right = heap[childAt + 1];
      if (right !== undefined && isBefore(right, child)) {
        child = right;
        childAt += 1;
      }
      if (!isBefore(child, last)) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = last;
    return top;
  }
}

const isBefore = (a: Timer, b: Timer): boolean =>
  a.atUs < b.atUs || (a.atUs === b.atUs && a.seq < b.seq);

const span = 2 ** 32;
/** Keeps the keys of streams away from the draws of the stream they come from. */
const streamSalt = 0x5bd1e995;

/**
 * Chance without a generator's state: the n-th draw of a stream is a function of its key and n. So a
 * draw costs next to nothing, streams don't disturb each other, and what is skipped changes nothing.
 */
export class Chance {
  readonly #key: number;
  #drawn = 0;

  constructor(key: number) {
    this.#key = key;
  }

  static of(seed: string): Chance {
    return new Chance(key32(seed));
  }

  /** Uniform integer, both ends included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.float() * (to - from + 1));
  }

  within({ minUs, maxUs }: DurationRange): number {
    return this.int(minUs, maxUs);
  }

  /** The same, skewed to the short: most take little, some take long. The median is at a quarter. */
  soonWithin({ minUs, maxUs }: DurationRange): number {
    return Math.round(minUs + (maxUs - minUs) * this.float() ** 2);
  }

  /** Uniform in [0, 1). */
  float(): number {
    return this.at(this.#drawn++);
  }

  /** The n-th draw, uniform in [0, 1), whatever was drawn before. */
  at(n: number): number {
    return mix32(this.#key, n) / span;
  }

  /** An independent stream; the same number always gives the same one. */
  stream(n: number): Chance {
    return new Chance(mix32(this.#key ^ streamSalt, n) | 0);
  }
}

/**
 * A process: what it has under way waits while it stands still, and never happens once it ended. One
 * that needs another (a kubelet its machine, a controller the API server) stands still with it.
 */
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

  next(): number {
    const delayUs = this.#nextUs;
    this.#nextUs = Math.min(this.#range.maxUs, delayUs * 2);
    return delayUs;
  }

  reset(): void {
    this.#nextUs = this.#range.firstUs;
  }
}
