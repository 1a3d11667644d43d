/** Which states of the volume a loss of power could leave, by the log of its writes. */
import { EvidenceError, type RandomStream, randomStream } from '../../core/index.ts';
import { type WriteLog, writeOps } from '../../history/index.ts';
import type { PowerLoss } from '../../scenario/index.ts';

/** The smallest piece that a disk writes whole. */
export const sectorBytes = 512;

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** Sectors that share one array: 1 MiB of the volume. */
const sectorsPerPage = 2048;

/**
 * Which write each sector of an image has, so that writes may reach it in any order: a flush of one
 * path can make an old write durable after a younger one of another path. The younger one stays.
 */
export class SectorVersions {
  /** 1 + index of the write that a sector has, 0 for none; only for parts that were written. */
  readonly #pages = new Map<number, Uint32Array>();

  /** Notes the write; gives the parts of it that no younger write has, in order. */
  claim(index: number, range: ByteRange): ByteRange[] {
    const parts = this.unclaimed(index, range);
    for (const { offset, length } of parts) {
      const first = offset / sectorBytes;
      for (let sector = first; sector < first + length / sectorBytes; sector += 1) {
        this.#page(sector)[sector % sectorsPerPage] = index + 1;
      }
    }
    return parts;
  }

  /** The same without noting it. Throws where the range is not made of whole sectors. */
  unclaimed(index: number, { offset, length }: ByteRange): ByteRange[] {
    if (offset % sectorBytes !== 0 || length % sectorBytes !== 0) {
      const what = `write ${index}, ${length} bytes at ${offset}, is not made of whole sectors`;
      throw new EvidenceError('WRITE_UNALIGNED', what);
    }
    const parts: { offset: number; length: number }[] = [];
    let open: { offset: number; length: number } | undefined;
    const first = offset / sectorBytes;
    for (let sector = first; sector < first + length / sectorBytes; sector += 1) {
      if (this.#version(sector) > index + 1) {
        open = undefined;
      } else if (open === undefined) {
        open = { offset: sector * sectorBytes, length: sectorBytes };
        parts.push(open);
      } else {
        open.length += sectorBytes;
      }
    }
    return parts;
  }

  #version(sector: number): number {
    const page = this.#pages.get(Math.floor(sector / sectorsPerPage));
    return page?.[sector % sectorsPerPage] ?? 0;
  }

  #page(sector: number): Uint32Array {
    const number = Math.floor(sector / sectorsPerPage);
    let page = this.#pages.get(number);
    if (page === undefined) this.#pages.set(number, (page = new Uint32Array(sectorsPerPage)));
    return page;
  }
}

/** The first `length` bytes of a write: all of it, or the part before it was torn. */
export interface Survivor {
  readonly index: number;
  readonly length: number;
}

/**
 * keeps: all of them. drops: none. reorders: each with even chance, so that younger ones may be
 * there and older ones not. tears: one of them, up to a sector within it, and no other.
 */
export function survivors(
  policy: PowerLoss,
  log: WriteLog,
  unflushed: readonly number[],
  random: RandomStream,
): Survivor[] {
  const whole = (index: number): Survivor => ({ index, length: log.at(index).length });
  if (policy === 'drops') return [];
  if (policy === 'tears') return torn(unflushed.map(whole), random);
  const kept = unflushed.filter(() => policy === 'keeps' || random.int(0, 1) === 1);
  return kept.map(whole);
}

/** A write of one sector can't be torn. */
function torn(writes: readonly Survivor[], random: RandomStream): Survivor[] {
  const tearable = writes.filter(({ length }) => length > sectorBytes);
  if (tearable.length === 0) return [];
  const victim = tearable[random.int(0, tearable.length - 1)];
  if (victim === undefined) return [];
  const sectors = random.int(1, Math.ceil(victim.length / sectorBytes) - 1);
  return [{ index: victim.index, length: sectors * sectorBytes }];
}

/**
 * Size for all paths together; what is more makes the oldest writes durable, as in a drive. The same as
 * the array's own (lib/storage/csi/array/unflushed.go).
 */
const defaultCacheBytes = 256 * 1024 ** 2;

/**
 * What the disk had promised at one moment of its log: each path has a cache that a loss of power
 * empties, and a flush of that path makes durable what the path wrote before the flush began.
 */
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

export interface PlanOptions {
  /** At most so many states; fewer where the log has not as many moments. */
  readonly states: number;
  /** What becomes of unflushed writes; the states take turns. */
  readonly policies: readonly PowerLoss[];
  /** Gives the moments and what unflushed writes become. */
  readonly seed: string;
  /** The first acknowledged commit, ms on the run's clock: moments before it can lose nothing. */
  readonly firstAckMs: number;
}

export const draws = ['anywhere', 'at-flush', 'much-unflushed'] as const;
export type Drawn = (typeof draws)[number];

export interface PlannedState {
  /** From 1, in the order of the log. */
  readonly number: number;
  /** The last record of the log that still happened. */
  readonly position: number;
  /** The latest time at which this is all that had happened, ms on the run's clock. */
  readonly atMs: number;
  readonly policy: PowerLoss;
  readonly drawn: Drawn;
}

export interface CrashStatePlan {
  readonly states: readonly PlannedState[];
  /**
   * Moments that could have been drawn since the first ack. Anywhere: one after each write and each
   * flush; of those: right before or after a flush, and with at least 8 writes unflushed.
   */
  readonly moments: Readonly<Record<Drawn, number>>;
}

/** Writes unflushed at once where pages are written back: commits alone leave one to three. */
const muchUnflushed = 8;

/**
 * A loss of power strikes between two records of the log. Half of the moments or more are drawn from all
 * there are; a quarter from those right before and after a flush, where a promise begins; a quarter from
 * those with much unflushed, where most can go wrong. Same log, same options: same plan.
 */
export function planStates(log: WriteLog, options: PlanOptions): CrashStatePlan {
  const { policies, seed, firstAckMs } = options;
  const untilMs = latestTimes(log);
  const moments = momentsOf(log, (at) => (untilMs[at] ?? 0) >= firstAckMs);
  const random = randomStream(seed).stream('crash-states');
  const drawFrom = (drawn: Drawn, count: number): number[] =>
    draw(random.stream(drawn), moments[drawn], count);
  const quarter = Math.floor(options.states / 4);
  const atFlush = drawFrom('at-flush', quarter);
  const much = drawFrom('much-unflushed', quarter);
  const anywhere = drawFrom('anywhere', options.states - atFlush.length - much.length);
  const drawnBy = { anywhere, 'at-flush': atFlush, 'much-unflushed': much };
  const planned = draws.flatMap((drawn) =>
    drawnBy[drawn].flatMap((position, turn) => {
      // Policies take turns within each draw, so that every policy meets every kind of moment.
      const policy = policies[turn % policies.length];
      const atMs = untilMs[position] ?? 0;
      return policy === undefined ? [] : [{ position, atMs, policy, drawn }];
    }),
  );
  const states = planned
    .toSorted((a, b) => a.position - b.position)
    .map((state, index) => ({ number: index + 1, ...state }));
  const counts = draws.map((drawn) => [drawn, moments[drawn].length]);
  return { states, moments: Object.fromEntries(counts) as CrashStatePlan['moments'] };
}

/**
 * By position: the time of the next thing that happened. What a client had acknowledged before that time
 * rests on records up to this position alone, since a record's time is taken before its answer.
 */
function latestTimes(log: WriteLog): Float64Array {
  const latest = new Float64Array(log.length);
  let next = log.length === 0 ? 0 : log.atMs(log.length - 1);
  for (let index = log.length - 1; index >= 0; index -= 1) {
    latest[index] = next;
    next = Math.min(next, log.atMs(index));
  }
  return latest;
}

function momentsOf(
  log: WriteLog,
  isWanted: (position: number) => boolean,
): Readonly<Record<Drawn, readonly number[]>> {
  const anywhere: number[] = [];
  const atFlush = new Set<number>();
  const much: number[] = [];
  const cache = new VolatileCache(log);
  for (let index = 0; index < log.length; index += 1) {
    cache.advance(index);
    const { op } = log.at(index);
    const flushes = op === writeOps.flushEnd || op === writeOps.flushIgnored;
    if (!flushes && op !== writeOps.write && op !== writeOps.zero) continue;
    if (isWanted(index)) anywhere.push(index);
    if (isWanted(index) && cache.unflushedCount >= muchUnflushed) much.push(index);
    if (!flushes) continue;
    if (index > 0 && isWanted(index - 1)) atFlush.add(index - 1);
    if (isWanted(index)) atFlush.add(index);
  }
  return { anywhere, 'at-flush': [...atFlush], 'much-unflushed': much };
}

/** So many of them, each at most once, in random order: Floyd's algorithm, then a shuffle. */
function draw(random: RandomStream, from: readonly number[], count: number): number[] {
  const chosen = new Set<number>();
  for (let last = Math.max(0, from.length - count); last < from.length; last += 1) {
    const index = random.int(0, last);
    chosen.add(chosen.has(index) ? last : index);
  }
  return [...chosen]
    .map((index) => ({ position: from[index] ?? 0, key: random.float() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ position }) => position);
}
