/**
 * The event kernel: integer virtual time in microseconds and a binary heap of timers. Ties are
 * broken by the order of scheduling, so a run depends on nothing but its seed.
 */

/** One scheduled call; the handle to cancel it. */
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
export interface TimerOwner {
  readonly life: number;
  admits(timer: Timer): boolean;
}

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

  /** Runs the next timer; false when there is none. */
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
