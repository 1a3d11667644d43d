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

// What the log says of a hand-over: who wrote first, what was refused, what was let through.

/** A stretch of the run's clock, ms; without an end it lasts. */
interface Span {
  readonly fromMs: number;
  toMs?: number;
}

export interface WriteMarks {
  /** The first write of another node than the victim after the fault. */
  handover?: { readonly atMs: number; readonly node: string } | undefined;
  /** While the victim's path stalled or failed. */
  readonly severed: Span[];
  /** What the victim wrote after its path was cut, and the disk did not take. */
  readonly refused: { count: number; bytes: number };
  /** Writes that the disk took from the victim though it should not have; there must be none. */
  readonly leaked: { whileSevered: number; afterCut: number };
}

/** A request that is under way when its path is severed may be carried out so much later. */
const underWayMs = 1000;

const isWrite = ({ op }: WriteRecord): boolean => op === writeOps.write || op === writeOps.zero;
const cuts: ReadonlySet<number> = new Set([writeOps.cut, writeOps.powerLost]);
const ends: ReadonlySet<number> = new Set([...cuts, writeOps.close]);
/** What the disk took proves that the path was open, whatever was recorded before. */
const opens: ReadonlySet<number> = new Set([
  ...[writeOps.open, writeOps.write, writeOps.zero, writeOps.flushBegin],
]);

/** One pass over the log. */
export function readMarks(log: WriteLog, victim: string, faultAtMs: number): Readonly<WriteMarks> {
  const nodeOf = nodesOf(log);
  const cut = new Set<number>();
  const marks: WriteMarks = {
    ...{ severed: [], refused: { count: 0, bytes: 0 }, leaked: { whileSevered: 0, afterCut: 0 } },
  };
  const { severed, refused, leaked } = marks;
  for (let index = 0; index < log.length; index += 1) {
    const record = log.at(index);
    const { op, flags, generation, length } = record;
    const node = nodeOf.get(generation);
    const atMs = log.atMs(index);
    const isCut = cut.has(generation);
    const last = severed.at(-1);
    const isSevered = last !== undefined && last.toMs === undefined;
    if (node !== victim) {
      if (node !== undefined && atMs >= faultAtMs && isWrite(record))
        marks.handover ??= { atMs, node };
    } else if (cuts.has(op)) cut.add(generation);
    else if (op === writeOps.link) {
      // Each path of the node has its own; the first one counts.
      if (flags !== linkFlags.pass && !isSevered) severed.push({ fromMs: atMs });
      else if (flags === linkFlags.pass && isSevered) last.toMs = atMs;
    } else if (op === writeOps.refused && isCut) {
      refused.count += 1;
      refused.bytes += length;
    } else if (isWrite(record)) {
      if (isSevered && atMs > last.fromMs + underWayMs) leaked.whileSevered += 1;
      if (isCut) leaked.afterCut += 1;
    }
  }
  return marks;
}

export const nodesOf = (log: WriteLog): ReadonlyMap<number, string> =>
  new Map(log.paths.map(({ generation, node }) => [generation, node]));

// The paths to the disk: from when to when each was open.

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
  const ended = new Set<number>();
  const found: OpenPath[] = [];
  const end = (generation: number, atMs: number): void => {
    const path = open.get(generation);
    if (path === undefined) return;
    open.delete(generation);
    const node = nodeOf.get(generation) ?? unknownNode(generation);
    found.push({ node, generation, ...path, toMs: Math.max(path.fromMs, atMs) });
  };
  for (let index = 0; index < log.length; index += 1) {
    const { generation, op, flags, length } = log.at(index);
    const atMs = log.atMs(index);
    const isLink = op === writeOps.link;
    const isBack = isLink && flags === linkFlags.pass && severed.delete(generation);
    if (ends.has(op)) {
      severed.delete(generation);
      ended.add(generation);
      end(generation, atMs);
    } else if (isLink && flags !== linkFlags.pass) {
      if (open.has(generation)) severed.add(generation);
      end(generation, atMs);
    }
    // What was under way when the link was severed may still be carried out; who may only read may flush.
    else if (severed.has(generation) || (ended.has(generation) && op === writeOps.flushBegin))
      continue;
    else if ((isBack || opens.has(op)) && !open.has(generation))
      open.set(generation, { fromMs: atMs, bytesWritten: 0 });
    const path = op === writeOps.write ? open.get(generation) : undefined;
    if (path !== undefined) path.bytesWritten += length;
  }
  for (const generation of open.keys()) end(generation, endAtMs);
  return found;
}

/** When the disk took the last write of an attachment; Infinity where it took none. */
export function lastWriteMs(log: WriteLog, generation: number | undefined): number {
  for (let index = log.length - 1; index >= 0; index -= 1) {
    const record = log.at(index);
    if (record.generation !== generation) continue;
    if (record.op === writeOps.write || record.op === writeOps.zero) return log.atMs(index);
  }
  return Infinity;
}
