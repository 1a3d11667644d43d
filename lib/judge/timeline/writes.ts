/** The disk's log of writes: marks in time, and tallies by node. */
import { type WriteLog, type WriteRecord, linkFlags, writeOps } from '../../history/index.ts';

/** File systems and page caches write pages; a disk's smaller sectors share one. */
export const blockBytes = 4096;

/** So many offsets are named. */
const offsetsNamed = 8;

export interface WriteTally {
  readonly bytesVictim: number;
  readonly bytesSuccessor: number;
  /** Blocks that both wrote or discarded. */
  readonly blocksBoth: number;
  /** Where the first of them are, bytes from the volume's beginning, in order. */
  readonly firstOffsets: readonly number[];
}

export interface TallyWindow {
  /** Its node; who is not the victim is a successor. */
  readonly victim: string;
  /** On the run's clock, both included. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** One pass; memory is a byte for each block and side. */
export function tallyWrites(log: WriteLog, window: TallyWindow): WriteTally {
  const { victim, fromMs, toMs } = window;
  const nodeOf = nodesOf(log);
  const [one, other] = [new WriterTally(log.sizeBytes), new WriterTally(log.sizeBytes)];
  for (let index = 0; index < log.length; index += 1) {
    const { op, offset, length, generation } = log.at(index);
    if (op !== writeOps.write && op !== writeOps.zero) continue;
    const atMs = log.atMs(index);
    if (atMs < fromMs || atMs > toMs) continue;
    const side = nodeOf.get(generation) === victim ? one : other;
    if (op === writeOps.write) side.bytes += length;
    side.mark(offset, length);
  }
  const both = blocksOfBoth(one, other);
  return {
    bytesVictim: one.bytes,
    bytesSuccessor: other.bytes,
    blocksBoth: both.length,
    firstOffsets: both.slice(0, offsetsNamed).map((block) => block * blockBytes),
  };
}

class WriterTally {
  bytes = 0;
  readonly blocks: Uint8Array;

  constructor(sizeBytes: number) {
    this.blocks = new Uint8Array(Math.ceil(sizeBytes / blockBytes));
  }

  mark(offset: number, length: number): void {
    if (length === 0) return;
    const first = Math.floor(offset / blockBytes);
    this.blocks.fill(1, first, Math.floor((offset + length - 1) / blockBytes) + 1);
  }
}

function blocksOfBoth(one: WriterTally, other: WriterTally): number[] {
  const both: number[] = [];
  for (const [block, marked] of one.blocks.entries()) {
    if (marked === 1 && other.blocks[block] === 1) both.push(block);
  }
  return both;
}

// What the disk’s log of writes says: of a hand-over (who wrote first, whose path ended when, what was
// refused), and of each path.

/** A stretch of the run's clock, ms; without an end it lasts. */
interface Span {
  readonly fromMs: number;
  readonly toMs?: number;
}

interface Refused {
  readonly count: number;
  readonly bytes: number;
}

export interface WriteMarks {
  /** The first write of another node than the victim after the fault. */
  readonly handover?: { readonly atMs: number; readonly node: string };
  /** When the last of the paths that the victim had at the fault was cut, lost power or closed. */
  readonly victimEndedMs?: number;
  /** The last write that the disk took from the victim. */
  readonly victimWroteMs?: number;
  /** While the victim's path stalled or failed. */
  readonly severed: readonly Span[];
  /** What the victim wrote after its path was cut, and the disk did not take. */
  readonly refused: Refused;
  /** Writes that the disk took from the victim though it should not have; there must be none. */
  readonly leaked: { readonly whileSevered: number; readonly afterCut: number };
}

/** A request that is under way when its path is severed may be carried out so much later. */
const underWayMs = 1000;

const isWrite = ({ op }: WriteRecord): boolean => op === writeOps.write || op === writeOps.zero;
const endsPath = new Set<number>([writeOps.cut, writeOps.powerLost, writeOps.close]);

/** One pass over the log. */
export function readMarks(log: WriteLog, victim: string, faultAtMs: number): WriteMarks {
  const nodeOf = nodesOf(log);
  const paths = new VictimPaths();
  const severed: { fromMs: number; toMs?: number }[] = [];
  const refused = { count: 0, bytes: 0 };
  let handover: { atMs: number; node: string } | undefined;
  let victimWroteMs: number | undefined;
  const leaked = { whileSevered: 0, afterCut: 0 };

  for (let index = 0; index < log.length; index += 1) {
    const record = log.at(index);
    const node = nodeOf.get(record.generation);
    const atMs = log.atMs(index);
    if (node !== victim) {
      const isFirst = handover === undefined && atMs >= faultAtMs && isWrite(record);
      if (isFirst && node !== undefined) handover = { atMs, node };
      continue;
    }
    paths.see(record, atMs, faultAtMs);
    if (record.op === writeOps.link) changeLink(severed, record.flags, atMs);
    else if (record.op === writeOps.refused && paths.isCut(record.generation)) {
      refused.count += 1;
      refused.bytes += record.length;
    } else if (isWrite(record)) {
      victimWroteMs = atMs;
      const last = severed.at(-1);
      const isSevered = last !== undefined && last.toMs === undefined;
      if (isSevered && atMs > last.fromMs + underWayMs) leaked.whileSevered += 1;
      if (paths.isCut(record.generation)) leaked.afterCut += 1;
    }
  }
  const victimEndedMs = paths.endedMs();
  return {
    severed,
    refused,
    leaked,
    ...(handover === undefined ? {} : { handover }),
    ...(victimWroteMs === undefined ? {} : { victimWroteMs }),
    ...(victimEndedMs === undefined ? {} : { victimEndedMs }),
  };
}

export const nodesOf = (log: WriteLog): ReadonlyMap<number, string> =>
  new Map(log.paths.map(({ generation, node }) => [generation, node]));

/** Each path of the node says it for itself; the first one counts. */
function changeLink(spans: { fromMs: number; toMs?: number }[], flags: number, atMs: number): void {
  const last = spans.at(-1);
  const isOpen = last !== undefined && last.toMs === undefined;
  if (flags === linkFlags.pass) {
    if (isOpen) last.toMs = atMs;
  } else if (!isOpen) spans.push({ fromMs: atMs });
}

/** The paths that the victim had when the fault hit, and how they ended. */
class VictimPaths {
  /** Generation → when it ended. */
  readonly #ended = new Map<number, number | undefined>();
  readonly #cut = new Set<number>();
  /** Ended before the fault. */
  readonly #over = new Set<number>();

  see({ generation, op }: WriteRecord, atMs: number, faultAtMs: number): void {
    if (op === writeOps.cut || op === writeOps.powerLost) this.#cut.add(generation);
    if (atMs < faultAtMs) {
      if (endsPath.has(op)) this.#over.add(generation);
      // A path that is over may still be asked, and refuses.
      if (this.#over.has(generation)) this.#ended.delete(generation);
      else this.#ended.set(generation, undefined);
    } else if (endsPath.has(op) && this.#ended.has(generation)) {
      this.#ended.set(generation, this.#ended.get(generation) ?? atMs);
    }
  }

  isCut(generation: number): boolean {
    return this.#cut.has(generation);
  }

  /** Undefined while one of them lasts. */
  endedMs(): number | undefined {
    const ends = [...this.#ended.values()];
    const known = ends.filter((end) => end !== undefined);
    return known.length === 0 || known.length < ends.length ? undefined : Math.max(...known);
  }
}

/** The paths to the disk, read from its log of writes: from when to when each was open. */
const ends = new Set<number>([writeOps.cut, writeOps.powerLost, writeOps.close]);
/** What the disk took proves that the path was open, whatever was said before. */
const taken = new Set<number>([writeOps.write, writeOps.zero, writeOps.flushBegin]);

/** How a path without a node is called: its generation is missing in paths.json. */
const unknownNode = (generation: number): string => `unknown node of generation ${generation}`;

/** From the opening of a path to its end, on the run's clock. */
interface OpenPath {
  readonly node: string;
  readonly generation: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly bytesWritten: number;
}

/** A path that is not closed lasts until `endAtMs`; while its link is severed it is shut. */
export function pathsIn(log: WriteLog, endAtMs: number): OpenPath[] {
  const nodeOf = nodesOf(log);
  const open = new Map<number, { readonly fromMs: number; bytesWritten: number }>();
  const severed = new Set<number>();
  const found: OpenPath[] = [];
  const end = (generation: number, atMs: number): void => {
    const path = open.get(generation);
    if (path === undefined) return;
    open.delete(generation);
    const node = nodeOf.get(generation) ?? unknownNode(generation);
    found.push({ node, generation, ...path, toMs: Math.max(path.fromMs, atMs) });
  };
  for (let index = 0; index < log.length; index += 1) {
    const record = log.at(index);
    const { generation, op, length } = record;
    const atMs = log.atMs(index);
    if (ends.has(op)) severed.delete(generation);
    else if (severs(record) && open.has(generation)) severed.add(generation);
    const isBack = passes(record) && severed.delete(generation);
    if (ends.has(op) || severs(record)) end(generation, atMs);
    // What was under way when the link was severed may still be carried out.
    else if (severed.has(generation)) continue;
    else if ((isBack || op === writeOps.open || taken.has(op)) && !open.has(generation))
      open.set(generation, { fromMs: atMs, bytesWritten: 0 });
    const path = op === writeOps.write ? open.get(generation) : undefined;
    if (path !== undefined) path.bytesWritten += length;
  }
  for (const generation of open.keys()) end(generation, endAtMs);
  return found;
}

/** Its requests wait or fail: the disk takes none of them, which the log of writes is held to. */
const severs = ({ op, flags }: WriteRecord): boolean =>
  op === writeOps.link && flags !== linkFlags.pass;

const passes = ({ op, flags }: WriteRecord): boolean =>
  op === writeOps.link && flags === linkFlags.pass;

/** When the disk took the last write of an attachment; Infinity where it took none. */
export function lastWriteMs(log: WriteLog, generation: number | undefined): number {
  for (let index = log.length - 1; index >= 0; index -= 1) {
    const record = log.at(index);
    if (record.generation !== generation) continue;
    if (record.op === writeOps.write || record.op === writeOps.zero) return log.atMs(index);
  }
  return Infinity;
}
