/** Waits between tries that fail, each twice as long as the one before, up to a limit. */

export interface BackOffRange {
  readonly firstUs: number;
  readonly maxUs: number;
}

export class BackOff {
  readonly #range: BackOffRange;
  #nextUs: number;

  constructor(range: BackOffRange) {
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
