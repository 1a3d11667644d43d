/**
 * Chance without a generator's state: the n-th draw of a stream is a function of its key and n. So a
 * draw costs next to nothing, streams don't disturb each other, and what is skipped changes nothing.
 */
import { key32, mix32 } from '../core/index.ts';
import type { DurationRange } from './timings.ts';

const span = 2 ** 32;
/** Keeps the keys of streams away from the draws of the stream they come from. */
const streamSalt = 0x5bd1e995;

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

  /** A duration drawn uniformly from a range. */
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
