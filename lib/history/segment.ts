/** One process's part of the history, and the frames that it is kept in. */
import { createHash } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type FrameSummary, LineEncoder } from './lines.ts';
import type { SegmentCounts, HistoryRecord } from './records.ts';

/**
 * Frames of a `.hist` file. Each is a zstd frame of JSON lines, compressed on its own and with a
 * checksum, behind a skippable zstd frame that says what is in it. So `zstd -dc FILE` prints the
 * whole file, and a reader can find its way without unpacking.
 */
/** RFC 8878 §3.1.2: any of 0x184D2A50 … 0x184D2A5F begins a skippable frame. */
const skippableMagic = 0x184d2a50;
const prefixBytes = 8;
/** A frame's head is a short JSON text; more means that this is no head. */
const headLimitBytes = 1024;
/** A frame is cut at 256 KiB of lines, and the last of them may be the evidence of a whole image. */
const frameLimitBytes = 256 * 1024 * 1024;

export interface FrameHead extends FrameSummary {
  /** Number of the frame's first record in its segment. */
  readonly first: number;
  readonly client?: string;
  /** Only of the last frame, which is empty: its writer came to the end, and this is what there is. */
  readonly end?: SegmentCounts;
  /** Size of the compressed frame behind the head. */
  readonly bytes: number;
  /** Hash over this frame and the chain of the one before it. Absent in histories of version 1. */
  readonly chain?: string;
}

export interface FramePlace {
  readonly head: FrameHead;
  /** Offset of the compressed frame in the file. */
  readonly offset: number;
}

/** Bytes to append to the file behind the frame with the chain `before`, and their own chain. */
export function packFrame(
  lines: Buffer,
  about: Omit<FrameHead, 'bytes' | 'chain'>,
  before: string | undefined,
): { readonly packed: Buffer; readonly chain: string } {
  const body = zstdCompressSync(lines, {
    params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  const bare = { ...about, bytes: body.length } satisfies FrameHead;
  const chain = chainOf(bare, body, before);
  const head = Buffer.from(JSON.stringify({ ...bare, chain } satisfies FrameHead));
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32LE(skippableMagic, 0);
  prefix.writeUInt32LE(head.length, 4);
  return { packed: Buffer.concat([prefix, head, body]), chain };
}

/** What the frame's chain has to be behind a frame with the chain `before`. */
export function chainOf(head: FrameHead, body: Buffer, before: string | undefined): string {
  // JSON keeps the order of the fields, so what was read gives the text that was written.
  const { chain: _own, ...bare } = head;
  const hash = createHash('sha256').update(`${before ?? ''}${JSON.stringify(bare)}`);
  return hash.update(body).digest('hex').slice(0, 16);
}

/** Lines of a frame. Throws where its checksum does not fit, or it unpacks to more than 256 MiB. */
export const unpackFrame = (body: Buffer): Buffer =>
  zstdDecompressSync(body, { maxOutputLength: frameLimitBytes });

export interface FoundFrames {
  readonly frames: readonly FramePlace[];
  /** The file ends within a frame, which a kill in the middle of a write leaves. */
  readonly cut: boolean;
  /** Where something stands that is no frame, and no beginning of one. */
  readonly strangeAt?: number;
}

/** Finds the whole frames of a file; `read` gives up to `length` bytes from an offset. */
export function findFrames(
  sizeBytes: number,
  read: (offset: number, length: number) => Buffer,
): FoundFrames {
  const frames: FramePlace[] = [];
  let offset = 0;
  while (offset < sizeBytes) {
    const start = read(offset, prefixBytes + headLimitBytes);
    const headLength = headLengthOf(start);
    if (headLength === undefined) return { frames, cut: false, strangeAt: offset };
    if (start.length < prefixBytes + headLength) return { frames, cut: true };
    const head = parseHead(start.subarray(prefixBytes, prefixBytes + headLength));
    if (head === undefined) return { frames, cut: false, strangeAt: offset };
    const bodyOffset = offset + prefixBytes + headLength;
    if (bodyOffset + head.bytes > sizeBytes) return { frames, cut: true };
    frames.push({ head, offset: bodyOffset });
    offset = bodyOffset + head.bytes;
  }
  return { frames, cut: false };
}

/** Undefined where this is no prefix; of one that is cut, more bytes than are there. */
function headLengthOf(start: Buffer): number | undefined {
  const magic = Buffer.alloc(4);
  magic.writeUInt32LE(skippableMagic);
  const seen = start.subarray(0, magic.length);
  if (!seen.equals(magic.subarray(0, seen.length))) return undefined;
  if (start.length < prefixBytes) return headLimitBytes;
  const length = start.readUInt32LE(4);
  return length <= headLimitBytes ? length : undefined;
}

function parseHead(text: Buffer): FrameHead | undefined {
  try {
    const head = JSON.parse(text.toString()) as FrameHead;
    const { bytes, first, count, small, minUs, maxUs } = head;
    const areCounts = [first, count, small].every((each) => Number.isInteger(each) && each >= 0);
    // Any other size would lead back, nowhere, or beyond what memory holds.
    const isSize = Number.isInteger(bytes) && bytes > 0 && bytes <= frameLimitBytes;
    const areTimes = Number.isFinite(minUs) && Number.isFinite(maxUs);
    return areCounts && areTimes && isSize ? head : undefined;
  } catch {
    return undefined;
  }
}

interface SegmentOptions {
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

/**
 * One process's part of the history, crash-safe without a sync: what was appended is in
 * `<name>.tail.jsonl` once `flush` returns, so it survives a kill -9 of the process; a full tail
 * becomes a compressed frame of `<name>.hist`. A crash between the two duplicates nothing, since
 * frame and tail both say the number of their first record. The end is a frame without records.
 */
export class Segment {
  readonly #client: string | undefined;
  readonly #frameBytes: number;
  readonly #tailPath: string;
  readonly #framesFile: number;
  readonly #tailFile: number;
  #encoder: LineEncoder;
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
