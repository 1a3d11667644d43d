/**
 * Chance as a port: every random draw of a run comes from a stream that its seed and the stream's
 * name give, so that streams are independent of each other and of who draws first.
 */
import { hash } from 'node:crypto';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';

export interface RandomStream {
  /** Uniform integer, both ends included. */
  int(from: number, to: number): number;
  /** Uniform in [0, 1). */
  float(): number;
  /** An independent stream; the same name always gives the same one, whatever was drawn before. */
  stream(name: string): RandomStream;
}

export function randomStream(seed: string): RandomStream {
  const generator = xoroshiro128plusFromState(seedWords(seed));
  return {
    int: (from, to) => uniformInt(generator, from, to),
    float: () => uniformFloat64(generator),
    stream: (name) => randomStream(JSON.stringify([seed, name])),
  };
}

/** Four 32-bit words of the seed's SHA-256. */
function seedWords(seed: string): number[] {
  const digest = hash('sha256', seed, 'buffer');
  return [0, 4, 8, 12].map((offset) => digest.readInt32LE(offset));
}

/** First 32-bit word of the SHA-256 of a text, as a key for `mix32`. */
export function key32(text: string): number {
  // A digest as text costs a third of one in a buffer, and leaves none to collect.
  const digest = hash('sha256', text, 'binary');
  const byte = (n: number): number => digest.charCodeAt(n) << (8 * n);
  return byte(0) | byte(1) | byte(2) | byte(3);
}

/**
 * The n-th draw under a key, uniform in [0, 2^32), without a generator's state: MurmurHash3's
 * finalizer (fmix32) over key and counter. For values that a verifier must find again by number.
 */
export function mix32(key: number, n: number): number {
  let mixed = (key ^ Math.imul(n, 0x9e3779b1)) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
