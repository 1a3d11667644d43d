/** A part of a segment that can be read on its own, and what is said where it can't. */
import { EvidenceError } from '../core/index.ts';
import { DamagedLineError, decodeLines, type LineSink } from './line-decoder.ts';
import type { FrameSummary } from './line-encoder.ts';

/** A part of a segment that can be read on its own: a frame, or the tail. */
export interface Chunk {
  readonly segment: string;
  readonly path: string;
  /** The frame's in its file; undefined of a tail. */
  readonly offset: number | undefined;
  readonly client: string | undefined;
  readonly summary: FrameSummary;
  /** The first records of a tail that are in a frame already. */
  readonly skip: number;
  readonly lines: () => Buffer;
}

/** What becomes of damage: the error is thrown, or what is left is read. */
export type OnDamage = (error: EvidenceError) => void;

/** Decodes a chunk's lines into the sink. Throws EvidenceError `HISTORY_DAMAGED`. */
export function decodeChunk(chunk: Chunk, sink: LineSink): void {
  const lines = chunk.lines();
  try {
    decodeLines(lines, chunk.client, sink, chunk.skip);
  } catch (error) {
    if (!(error instanceof DamagedLineError)) throw error;
    throw damaged(chunk.path, locationOf(chunk, error), error);
  }
}

/** A tail's first line is its head. */
export const locationOf = (
  { offset }: Pick<Chunk, 'offset'>,
  { line }: DamagedLineError,
): string =>
  offset === undefined
    ? `line ${line + 1} can't be read`
    : `line ${line} of the frame at byte ${offset} can't be read`;

export const damaged = (path: string, what: string, cause?: unknown): EvidenceError =>
  new EvidenceError('HISTORY_DAMAGED', `${path}: ${what}`, { cause });
