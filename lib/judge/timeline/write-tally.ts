/** What the victim and everybody else wrote in a stretch of time, exact to the block, from the disk's log of writes. */
import { writeOps, type WriteLog } from '../../history/index.ts';
import { nodesOf } from './write-marks.ts';

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
