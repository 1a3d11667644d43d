/** Finds what a segment's two files hold, whatever a kill -9 left of them. */
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { EvidenceError } from '../errors.ts';
import type { SegmentCounts } from './events.ts';
import { chainOf, findFrames, unpackFrame, type FramePlace } from './frame.ts';
import { decodeLines } from './line-decoder.ts';
import type { FrameSummary } from './line-encoder.ts';
import { suffixes, type TailHead } from './segment.ts';

/** A part of a segment that can be read on its own: a frame, or the tail. */
export interface Chunk {
  readonly segment: string;
  readonly client: string | undefined;
  readonly summary: FrameSummary;
  /** The first records of a tail that are in a frame already. */
  readonly skip: number;
  readonly lines: () => Buffer;
}

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

/** Safe while the segment is being written: the tail is read first, so it can only overlap. */
export function readSegment(directory: string, segment: string): SegmentContent {
  const tailPath = join(directory, segment + suffixes.tail);
  const tail = existsSync(tailPath) ? readFileSync(tailPath) : Buffer.alloc(0);
  const path = join(directory, segment + suffixes.frames);
  const file = openSync(path, 'r');
  const { frames, cut } = findFrames(fstatSync(file).size, (offset, length) =>
    readAt(file, offset, length),
  );
  const brokenAt = brokenChain(frames, ({ offset, head }) => readAt(file, offset, head.bytes));
  closeSync(file);

  const filled = frames.filter(({ head }) => head.end === undefined);
  const chunks = filled.map((frame) => frameChunk(path, segment, frame));
  const cuts: HistoryCut[] = cut ? [{ segment, within: 'frame' }] : [];
  const written = endOf(frames, segment);
  const last = tailChunk(tail, segment, written);
  if (last.chunk !== undefined) chunks.push(last.chunk);
  if (last.cut) cuts.push({ segment, within: 'line' });
  const chain = filled.at(-1)?.head.chain;
  const counts: SegmentCounts = {
    records: sumOf(chunks, ({ count }) => count),
    small: sumOf(chunks, ({ small }) => small),
    frames: filled.length,
    ...(chain === undefined ? {} : { chain }),
  };
  return { chunks, cuts, counts, end: frames.at(-1)?.head.end, brokenAt };
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

/** What can be read of a damaged segment: its whole frames, or nothing where some are missing. */
export function salvageSegment(directory: string, segment: string): SegmentContent {
  const damage: HistoryCut = { segment, within: 'damage' };
  let content: SegmentContent;
  try {
    content = readSegment(directory, segment);
  } catch {
    const counts = { records: 0, small: 0, frames: 0 };
    return { chunks: [], cuts: [damage], counts, end: undefined, brokenAt: undefined };
  }
  const chunks = content.chunks.filter(isReadable);
  const isWhole = chunks.length === content.chunks.length;
  return { ...content, chunks, cuts: isWhole ? content.cuts : [...content.cuts, damage] };
}

function isReadable({ lines, client, skip }: Chunk): boolean {
  const ignore = (): void => undefined;
  try {
    decodeLines(lines(), client, { operation: ignore, row: ignore, record: ignore }, skip);
    return true;
  } catch {
    return false;
  }
}

/** Number of records in the frames, which must follow each other without a gap. */
function endOf(frames: readonly FramePlace[], segment: string): number {
  let end = 0;
  for (const { head } of frames) {
    if (head.first !== end) throw damaged(segment, `records ${end} to ${head.first} are missing`);
    end += head.count;
  }
  return end;
}

function frameChunk(path: string, segment: string, { head, offset }: FramePlace): Chunk {
  return {
    segment,
    client: head.client,
    summary: head,
    skip: 0,
    lines: () => {
      const file = openSync(path, 'r');
      try {
        return unpackFrame(readAt(file, offset, head.bytes));
      } catch (error) {
        throw damaged(segment, `the frame at byte ${offset} can't be unpacked`, error);
      } finally {
        closeSync(file);
      }
    },
  };
}

function tailChunk(
  tail: Buffer,
  segment: string,
  written: number,
): { readonly chunk?: Chunk; readonly cut: boolean } {
  const headEnd = tail.indexOf('\n');
  // A tail is emptied before its new head is written: a kill in between leaves no records.
  if (headEnd === -1) return { cut: tail.length > 0 };
  const { first, client } = JSON.parse(tail.toString('utf8', 0, headEnd)) as TailHead;
  if (first > written) throw damaged(segment, `records ${written} to ${first} are missing`);
  const skip = written - first;
  const lines = tail.subarray(headEnd + 1);
  const { summary, cut } = summarize(lines, client, skip);
  if (summary.count === 0) return { cut };
  return { chunk: { segment, client, summary, skip, lines: () => lines }, cut };
}

function summarize(
  lines: Buffer,
  client: string | undefined,
  skip: number,
): { readonly summary: FrameSummary; readonly cut: boolean } {
  const summary: FrameSummary = { count: 0, small: 0, minUs: Infinity, maxUs: -Infinity };
  const see = (atUs: number, small: boolean): void => {
    summary.count += 1;
    if (small) summary.small += 1;
    summary.minUs = Math.min(summary.minUs, atUs);
    summary.maxUs = Math.max(summary.maxUs, atUs);
  };
  const { cut } = decodeLines(
    lines,
    client,
    {
      operation: ({ atUs }) => see(atUs, false),
      row: () => see(0, false),
      record: (record) =>
        see(record.t * 1000, record.type !== 'invoke' && record.type !== 'outcome'),
    },
    skip,
  );
  return { summary, cut };
}

function readAt(file: number, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
}

function damaged(segment: string, what: string, cause?: unknown): EvidenceError {
  return new EvidenceError('HISTORY_DAMAGED', `history segment ${segment}: ${what}`, { cause });
}
