/** Finds what a segment's two files hold, whatever a kill -9 left of them. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { EvidenceError, openInput } from '../core/index.ts';
import { damaged, decodeChunk, type Chunk, type OnDamage } from './chunk.ts';
import type { SegmentCounts } from './events.ts';
import { chainOf, findFrames, unpackFrame, type FoundFrames, type FramePlace } from './frame.ts';
import { DamagedLineError, ignoring } from './line-decoder.ts';
import type { FrameSummary } from './line-encoder.ts';
import { suffixes } from './segment.ts';
import { tailChunk, tailOf } from './tail.ts';

/**
 * Where a segment ends in the middle of a write. `frame`: nothing is lost, the tail has it still.
 * `damage`: something in it can't be read; only a reader that salvages says so.
 */
export interface HistoryCut {
  readonly segment: string;
  readonly within: 'frame' | 'line' | 'damage';
}

/** What there is of a segment, beside what its writer says of it. */
export interface SegmentSeal {
  /** Found in its files. */
  readonly counts: SegmentCounts;
  /** What its end says; undefined where it has none: nobody brought it to its end. */
  readonly end: SegmentCounts | undefined;
  /**
   * Number of the first frame that is not the one which was written behind the frame before it.
   * Histories of version 1 have no chain: there it is 0, or undefined without any frame.
   */
  readonly brokenAt: number | undefined;
}

export interface SegmentContent extends SegmentSeal {
  readonly chunks: readonly Chunk[];
  readonly cuts: readonly HistoryCut[];
}

const raise: OnDamage = (error) => {
  throw error;
};

/**
 * Safe while the segment is being written: the tail is read first, so it can only overlap. Throws
 * EvidenceError `HISTORY_DAMAGED`, unless `onDamage` does not.
 */
export function readSegment(
  directory: string,
  segment: string,
  onDamage: OnDamage = raise,
): SegmentContent {
  const tail = tailOf(directory, segment, onDamage);
  const path = join(directory, segment + suffixes.frames);
  const found = framesIn(path, onDamage);
  const { frames } = found;
  const filled = frames.filter(({ head }) => head.end === undefined);
  const chunks = filled.map((frame) => frameChunk(path, segment, frame));
  const cuts: HistoryCut[] = found.cut ? [{ segment, within: 'frame' }] : [];
  const last = tailChunk(tail, segment, endOf(frames, path, onDamage), onDamage);
  if (last.chunk !== undefined) chunks.push(last.chunk);
  if (last.cut) cuts.push({ segment, within: 'line' });
  const chain = filled.at(-1)?.head.chain;
  const counts: SegmentCounts = {
    records: sumOf(chunks, ({ count }) => count),
    small: sumOf(chunks, ({ small }) => small),
    frames: filled.length,
    ...(chain === undefined ? {} : { chain }),
  };
  return { chunks, cuts, counts, end: frames.at(-1)?.head.end, brokenAt: found.brokenAt };
}

function framesIn(
  path: string,
  onDamage: OnDamage,
): Pick<FoundFrames, 'frames' | 'cut'> & Pick<SegmentSeal, 'brokenAt'> {
  let file: number;
  try {
    file = openInput(path);
  } catch (error) {
    onDamage(damaged(path, "it can't be read", error));
    return { frames: [], cut: false, brokenAt: undefined };
  }
  try {
    const { frames, cut, strangeAt } = findFrames(fstatSync(file).size, (offset, length) =>
      readAt(file, offset, length),
    );
    if (strangeAt !== undefined) onDamage(damaged(path, `byte ${strangeAt} begins no frame`));
    const brokenAt = brokenChain(frames, ({ offset, head }) => readAt(file, offset, head.bytes));
    return { frames, cut, brokenAt };
  } finally {
    closeSync(file);
  }
}

const sumOf = (chunks: readonly Chunk[], count: (summary: FrameSummary) => number): number =>
  chunks.reduce((sum, { summary }) => sum + count(summary), 0);

/** Number of the first frame whose chain is not what it has to be there. */
function brokenChain(
  frames: readonly FramePlace[],
  bodyOf: (frame: FramePlace) => Buffer,
): number | undefined {
  let before: string | undefined;
  for (const [number, frame] of frames.entries()) {
    const { chain, end } = frame.head;
    const isBehindEnd = number > 0 && frames[number - 1]?.head.end !== undefined;
    if (isBehindEnd || chain !== chainOf(frame.head, bodyOf(frame), before)) return number;
    if (end === undefined) before = chain;
  }
  return undefined;
}

/** What can be read of a damaged segment: its whole frames, and of the others the lines before the damage. */
export function salvageSegment(directory: string, segment: string): SegmentContent {
  const damage: HistoryCut = { segment, within: 'damage' };
  let isWhole = true;
  const content = readSegment(directory, segment, () => (isWhole = false));
  const chunks = content.chunks.flatMap((chunk): Chunk[] => {
    const readable = readableOf(chunk);
    if (readable !== chunk) isWhole = false;
    return readable === undefined ? [] : [readable];
  });
  return { ...content, chunks, cuts: isWhole ? content.cuts : [...content.cuts, damage] };
}

function readableOf(chunk: Chunk): Chunk | undefined {
  try {
    decodeChunk(chunk, ignoring);
    return chunk;
  } catch (error) {
    if (!(error instanceof EvidenceError) || !(error.cause instanceof DamagedLineError)) {
      return undefined;
    }
    const { offset } = error.cause;
    return { ...chunk, lines: () => chunk.lines().subarray(0, offset) };
  }
}

/** Number of records in the frames, which must follow each other without a gap. */
function endOf(frames: readonly FramePlace[], path: string, onDamage: OnDamage): number {
  let end = 0;
  for (const { head, offset } of frames) {
    if (head.first !== end) {
      const what = `records ${end} to ${head.first} are missing before byte ${offset}`;
      onDamage(damaged(path, what));
    }
    end = head.first + head.count;
  }
  return end;
}

const frameChunk = (path: string, segment: string, { head, offset }: FramePlace): Chunk => ({
  ...{ segment, path, offset, client: head.client, summary: head, skip: 0 },
  lines: () => {
    const file = openSync(path, 'r');
    try {
      return unpackFrame(readAt(file, offset, head.bytes));
    } catch (error) {
      throw damaged(path, `the frame at byte ${offset} can't be unpacked`, error);
    } finally {
      closeSync(file);
    }
  },
});

function readAt(file: number, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
}
