/** Counter-based chance: the n-th draw of a schedule depends on its key and n alone. */
import { key32, mix32 } from '../random.ts';

export class Draws {
  readonly #key: number;
  #count = 0;

  constructor(key: number) {
    this.#key = key;
  }

  /** Of the index-th schedule of a sweep. */
  static of(sweepKey: number, index: number): Draws {
    return new Draws(mix32(sweepKey, index));
  }

  /** Uniform, both ends included. */
  int(from: number, to: number): number {
    return from + Math.floor((this.#next() / 2 ** 32) * (to - from + 1));
  }

  /** True so often. */
  chance(share: number): boolean {
    return this.#next() < share * 2 ** 32;
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.int(0, values.length - 1)];
    if (value === undefined) throw new RangeError('nothing to pick from');
    return value;
  }

  #next(): number {
    this.#count += 1;
    return mix32(this.#key, this.#count);
  }
}

export const sweepKey = (seed: string): number => key32(`sweep ${seed}`);
