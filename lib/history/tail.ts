/** The tail of a segment: lines that were not yet packed into a frame, whatever a kill left of them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { mebibyte, readInput } from '../core/index.ts';
import { damaged, locationOf, type Chunk, type OnDamage } from './chunk.ts';
import { DamagedLineError, decodeLines, type LineSink } from './line-decoder.ts';
import type { FrameSummary } from './line-encoder.ts';
import { suffixes, type TailHead } from './segment.ts';

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
export function tailChunk(
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
  const about = { segment, path, offset: undefined, client, skip };
  const { summary, cut, readable, error } = summarize(all, client, skip);
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

function summarize(lines: Buffer, client: string | undefined, skip: number): Summarized {
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
    return { summary, cut: decodeLines(lines, client, sink, skip).cut, readable: lines };
  } catch (error) {
    if (!(error instanceof DamagedLineError)) throw error;
    return { summary, cut: false, readable: lines.subarray(0, error.offset), error };
  }
}
