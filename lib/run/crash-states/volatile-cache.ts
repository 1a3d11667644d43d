/**
 * What the disk had promised at one moment of its log: each path has a cache that a loss of power
 * empties, and a flush of that path makes durable what the path wrote before the flush began.
 */
import { writeOps, type WriteLog } from '../../history/index.ts';

/**
 * Size for all paths together; what is more makes the oldest writes durable, as in a drive. The same as
 * the array's own (lib/storage/csi/array/unflushed.go).
 */
const defaultCacheBytes = 256 * 1024 ** 2;

export class VolatileCache {
  readonly #log: WriteLog;
  readonly #sizeBytes: number;
  /** By path (generation): its writes that no flush has covered yet, oldest first. */
  readonly #unflushed = new Map<number, number[]>();
  #bytes = 0;
  #count = 0;
  #next = 0;

  constructor(log: WriteLog, sizeBytes: number = defaultCacheBytes) {
    this.#log = log;
    this.#sizeBytes = sizeBytes;
  }

  /**
   * Plays the log on, up to and with that record. Gives the writes that became durable on the way,
   * by index, oldest first. A record that was played already plays nothing.
   */
  advance(last: number): number[] {
    const durable: number[] = [];
    for (; this.#next <= last; this.#next += 1) {
      // Not by spreading: hundreds of thousands may become durable at once.
      for (const index of this.#play(this.#next)) durable.push(index);
    }
    return durable.toSorted((a, b) => a - b);
  }

  /** How many writes a loss of power may take. */
  get unflushedCount(): number {
    return this.#count;
  }

  /** Writes that a loss of power may take, by index, oldest first. */
  unflushed(): number[] {
    return [...this.#unflushed.values()].flat().toSorted((a, b) => a - b);
  }

  #play(index: number): readonly number[] {
    const { op, generation, offset } = this.#log.at(index);
    if (op === writeOps.write || op === writeOps.zero) {
      this.#of(generation).push(index);
      this.#bytes += this.#bytesOf(index);
      this.#count += 1;
      return this.#overflow();
    }
    if (op === writeOps.flushEnd) return this.#flush(generation, offset);
    // What became of unflushed writes was decided there; what was lost follows as `restored`.
    // A path that closes in good order leaves nothing in its cache.
    if (op === writeOps.powerLost || op === writeOps.close) return this.#flush(generation, index);
    return op === writeOps.restored ? [index] : [];
  }

  #flush(generation: number, before: number): number[] {
    const writes = this.#of(generation);
    const kept = writes.findIndex((index) => index >= before);
    const durable = writes.splice(0, kept === -1 ? writes.length : kept);
    for (const index of durable) this.#bytes -= this.#bytesOf(index);
    this.#count -= durable.length;
    return durable;
  }

  #overflow(): number[] {
    const durable: number[] = [];
    while (this.#bytes > this.#sizeBytes) {
      const oldest = Math.min(...[...this.#unflushed.values()].flatMap(([first]) => first ?? []));
      durable.push(...this.#flush(this.#log.at(oldest).generation, oldest + 1));
    }
    return durable;
  }

  /** Zeros take no room. */
  #bytesOf(index: number): number {
    const { op, length } = this.#log.at(index);
    return op === writeOps.write ? length : 0;
  }

  #of(generation: number): number[] {
    let writes = this.#unflushed.get(generation);
    if (writes === undefined) this.#unflushed.set(generation, (writes = []));
    return writes;
  }
}
