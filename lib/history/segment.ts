/**
 * One process's part of the history, crash-safe without a sync: what was appended is in
 * `<name>.tail.jsonl` once `flush` returns, so it survives a kill -9 of the process; a full tail
 * becomes a compressed frame of `<name>.hist`. A crash between the two duplicates nothing, since
 * frame and tail both say the number of their first record. The end is a frame without records.
 */
import { closeSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { HistoryRecord, SegmentCounts } from './events.ts';
import { packFrame, type FrameHead } from './frame.ts';
import { LineEncoder } from './line-encoder.ts';

export interface SegmentOptions {
  /** Directory of the segments; it exists. */
  readonly directory: string;
  /** File name without suffix; no segment of that name may be there. */
  readonly name: string;
  /** Whose operations are encoded shortly. Default: nobody's. */
  readonly client?: string;
  /** A tail of this size becomes a frame; default 256 KiB. */
  readonly frameBytes?: number;
}

/** First line of a tail. */
export interface TailHead {
  /** Number of the tail's first record in its segment. */
  readonly first: number;
  readonly client?: string;
}

export const suffixes = { frames: '.hist', tail: '.tail.jsonl' } as const;

export class Segment {
  readonly #client: string | undefined;
  readonly #frameBytes: number;
  readonly #tailPath: string;
  readonly #framesFile: number;
  readonly #tailFile: number;
  #encoder: LineEncoder;
  /** Number of the tail's first record. */
  #first = 0;
  /** The tail's lines: `#used` bytes of it, of which `#written` are on file. */
  #lines: Buffer;
  #used = 0;
  #written = 0;
  /** Counts of the frames so far. */
  #counts: SegmentCounts = { records: 0, small: 0, frames: 0 };
  #closed = false;

  constructor(options: SegmentOptions) {
    const { directory, name, client, frameBytes = 256 * 1024 } = options;
    this.#client = client;
    this.#frameBytes = frameBytes;
    this.#lines = Buffer.allocUnsafe(frameBytes + 4096);
    this.#tailPath = join(directory, name + suffixes.tail);
    this.#framesFile = openSync(join(directory, name + suffixes.frames), 'ax');
    this.#tailFile = openSync(this.#tailPath, 'ax');
    this.#encoder = this.#beginTail();
  }

  /** On file after the next `flush`, or sooner. */
  append(record: HistoryRecord): void {
    const line = this.#encoder.encode(record);
    this.#reserve(line.length * 3);
    this.#used += this.#lines.write(line, this.#used);
    if (this.#used >= this.#frameBytes) this.#roll();
  }

  flush(): void {
    if (this.#written === this.#used) return;
    writeAll(this.#tailFile, this.#lines, this.#written, this.#used);
    this.#written = this.#used;
  }

  /** Puts the tail into a last frame, and the end behind it: what there is now. Idempotent. */
  close(): SegmentCounts {
    if (this.#closed) return this.#counts;
    this.#closed = true;
    if (this.#used > 0) this.#roll();
    const empty = { count: 0, small: 0, minUs: 0, maxUs: 0 };
    this.#writeFrame(Buffer.alloc(0), { first: this.#first, ...empty, end: this.#counts });
    closeSync(this.#framesFile);
    closeSync(this.#tailFile);
    rmSync(this.#tailPath);
    return this.#counts;
  }

  #reserve(bytes: number): void {
    if (this.#used + bytes <= this.#lines.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#used + bytes));
    this.#lines.copy(larger, 0, 0, this.#used);
    this.#lines = larger;
  }

  /** The frame must be whole in its file before the tail goes: a reader takes either. */
  #roll(): void {
    const { summary } = this.#encoder;
    const about = { first: this.#first, ...summary };
    const head = this.#client === undefined ? about : { ...about, client: this.#client };
    const chain = this.#writeFrame(this.#lines.subarray(0, this.#used), head);
    this.#first += summary.count;
    const { small, frames } = this.#counts;
    this.#counts = {
      records: this.#first,
      small: small + summary.small,
      frames: frames + 1,
      chain,
    };
    this.#used = 0;
    this.#written = 0;
    ftruncateSync(this.#tailFile);
    this.#encoder = this.#beginTail();
  }

  /** Gives its chain. */
  #writeFrame(lines: Buffer, head: Omit<FrameHead, 'bytes' | 'chain'>): string {
    const { packed, chain } = packFrame(lines, head, this.#counts.chain);
    writeAll(this.#framesFile, packed);
    return chain;
  }

  #beginTail(): LineEncoder {
    const head: TailHead =
      this.#client === undefined
        ? { first: this.#first }
        : { first: this.#first, client: this.#client };
    writeAll(this.#tailFile, Buffer.from(`${JSON.stringify(head)}\n`));
    return new LineEncoder(this.#client);
  }
}

function writeAll(file: number, bytes: Buffer, from = 0, to: number = bytes.length): void {
  for (let at = from; at < to; ) at += writeSync(file, bytes, at, to - at);
}
