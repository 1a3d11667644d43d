/** Finds what a segment's two files hold, whatever a kill -9 left of them. */
import { existsSync, closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { EvidenceError, mebibyte, readInput, openInput } from '../core/index.ts';
import {
  DamagedLineError,
  decodeLines,
  type LineSink,
  type LinesAbout,
  type FrameSummary,
  ignoring,
} from './lines.ts';
import type { SegmentCounts } from './records.ts';
import {
  suffixes,
  type TailHead,
  chainOf,
  findFrames,
  unpackFrame,
  type FoundFrames,
  type FramePlace,
} from './segment.ts';

/** A part of a segment that can be read on its own: a frame, or the tail, whose first records may be in a frame already. */
export interface Chunk extends LinesAbout {
  readonly segment: string;
  readonly path: string;
  /** The frame's in its file; undefined of a tail. */
  readonly offset: number | undefined;
  readonly summary: FrameSummary;
  readonly lines: () => Buffer;
}

/** What becomes of damage: the error is thrown, or what is left is read. */
type OnDamage = (error: EvidenceError) => void;

/** Decodes a chunk's lines into the sink. Throws EvidenceError `HISTORY_DAMAGED`. */
export function decodeChunk(chunk: Chunk, sink: LineSink): void {
  const lines = chunk.lines();
  try {
    decodeLines(lines, chunk, sink);
  } catch (error) {
    if (!(error instanceof DamagedLineError)) throw error;
    throw damaged(chunk.path, locationOf(chunk, error), error);
  }
}

/** A tail's first line is its head. */
const locationOf = ({ offset }: Pick<Chunk, 'offset'>, { line }: DamagedLineError): string =>
  offset === undefined
    ? `line ${line + 1} can't be read`
    : `line ${line} of the frame at byte ${offset} can't be read`;

export const damaged = (path: string, what: string, cause?: unknown): EvidenceError =>
  new EvidenceError('HISTORY_DAMAGED', `${path}: ${what}`, { cause });

/** A tail becomes a frame at 256 KiB, and its last line may be the evidence of a whole image. */
const tailLimitBytes = 256 * mebibyte;

export interface Tail {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Empty where there is none. */
export function tailOf(directory: string, segment: string, onDamage: OnDamage): Tail {
  const path = join(directory, segment + suffixes.tail);
  if (!existsSync(path)) return { path, bytes: Buffer.alloc(0) };
  try {
    return { path, bytes: readInput(path, tailLimitBytes) };
  } catch (error) {
    // Its writer may have ended meanwhile, and put it into a frame.
    if (existsSync(path)) onDamage(damaged(path, "it can't be read", error));
    return { path, bytes: Buffer.alloc(0) };
  }
}

/** Its records behind the first `written` ones, which are in frames. */
function tailChunk(
  { path, bytes }: Tail,
  segment: string,
  written: number,
  onDamage: OnDamage,
): { readonly chunk?: Chunk; readonly cut: boolean } {
  const headEnd = bytes.indexOf('\n');
  // A tail is emptied before its new head is written: a kill in between leaves no records.
  if (headEnd === -1) return { cut: bytes.length > 0 };
  const head = headIn(bytes.toString('utf8', 0, headEnd));
  if (head === undefined) {
    onDamage(damaged(path, "line 1 can't be read"));
    return { cut: false };
  }
  const { first, client } = head;
  if (first > written) onDamage(damaged(path, `records ${written} to ${first} are missing`));
  const skip = Math.max(0, written - first);
  const all = bytes.subarray(headEnd + 1);
  const about = { segment, path, offset: undefined, client, first, skip };
  const { summary, cut, readable, error } = summarize(all, about);
  if (error !== undefined) onDamage(damaged(path, locationOf(about, error), error));
  if (summary.count === 0) return { cut };
  return { chunk: { ...about, summary, lines: () => readable }, cut };
}

function headIn(text: string): TailHead | undefined {
  try {
    const head = JSON.parse(text) as Readonly<Record<keyof TailHead, unknown>>;
    const { first, client } = head;
    if (typeof first !== 'number' || !Number.isInteger(first) || first < 0) return undefined;
    return typeof client === 'string' ? { first, client } : { first };
  } catch {
    return undefined;
  }
}

interface Summarized {
  readonly summary: FrameSummary;
  readonly cut: boolean;
  /** The lines before the first that is none. */
  readonly readable: Buffer;
  readonly error?: DamagedLineError;
}

function summarize(lines: Buffer, about: LinesAbout): Summarized {
  const summary: FrameSummary = { count: 0, small: 0, minUs: Infinity, maxUs: -Infinity };
  const see = (atUs: number, small: boolean): void => {
    summary.count += 1;
    if (small) summary.small += 1;
    summary.minUs = Math.min(summary.minUs, atUs);
    summary.maxUs = Math.max(summary.maxUs, atUs);
  };
  const sink: LineSink = {
    operation: ({ atUs }) => see(atUs, false),
    row: () => see(0, false),
    record: ({ t, type }) => see(t * 1000, type !== 'invoke' && type !== 'outcome'),
  };
  try {
    return { summary, cut: decodeLines(lines, about, sink).cut, readable: lines };
  } catch (error) {
    if (!(error instanceof DamagedLineError)) throw error;
    return { summary, cut: false, readable: lines.subarray(0, error.offset), error };
  }
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
  ...{ segment, path, offset, client: head.client, first: head.first, skip: 0, summary: head },
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
