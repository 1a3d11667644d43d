/**
 * Frames of a `.hist` file. Each is a zstd frame of JSON lines, compressed on its own and with a
 * checksum, behind a skippable zstd frame that says what is in it. So `zstd -dc FILE` prints the
 * whole file, and a reader can find its way without unpacking.
 */
import { createHash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { SegmentCounts } from './events.ts';
import type { FrameSummary } from './line-encoder.ts';

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
  /** Owner of the segment's operations. */
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
    const { bytes, first, count, small } = head;
    const areCounts = [first, count, small].every((each) => Number.isInteger(each) && each >= 0);
    // Any other size would lead back, nowhere, or beyond what memory holds.
    const isSize = Number.isInteger(bytes) && bytes > 0 && bytes <= frameLimitBytes;
    return areCounts && isSize ? head : undefined;
  } catch {
    return undefined;
  }
}
