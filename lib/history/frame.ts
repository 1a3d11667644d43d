/**
 * Frames of a `.hist` file. Each is a zstd frame of JSON lines, compressed on its own and with a
 * checksum, behind a skippable zstd frame that says what is in it. So `zstd -dc FILE` prints the
 * whole file, and a reader can find its way without unpacking.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { FrameSummary } from './line-encoder.ts';

/** RFC 8878 §3.1.2: any of 0x184D2A50 … 0x184D2A5F begins a skippable frame. */
const skippableMagic = 0x184d2a50;
const prefixBytes = 8;
/** A frame's head is a short JSON text; more means that this is no head. */
const headLimitBytes = 1024;

export interface FrameHead extends FrameSummary {
  /** Number of the frame's first record in its segment. */
  readonly first: number;
  /** Owner of the segment's operations. */
  readonly client?: string;
  /** Size of the compressed frame behind the head. */
  readonly bytes: number;
}

export interface FramePlace {
  readonly head: FrameHead;
  /** Offset of the compressed frame in the file. */
  readonly offset: number;
}

/** Bytes to append to the file. */
export function packFrame(lines: Buffer, about: Omit<FrameHead, 'bytes'>): Buffer {
  const body = zstdCompressSync(lines, {
    params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  const head = Buffer.from(JSON.stringify({ ...about, bytes: body.length } satisfies FrameHead));
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32LE(skippableMagic, 0);
  prefix.writeUInt32LE(head.length, 4);
  return Buffer.concat([prefix, head, body]);
}

/** Lines of a frame. Throws where the frame's checksum does not fit. */
export function unpackFrame(body: Buffer): Buffer {
  return zstdDecompressSync(body);
}

/**
 * Finds the whole frames of a file of `sizeBytes`; `read` gives up to `length` bytes from an
 * offset. `cut`: the file ends within a frame, which a kill in the middle of a write leaves.
 */
export function findFrames(
  sizeBytes: number,
  read: (offset: number, length: number) => Buffer,
): { readonly frames: readonly FramePlace[]; readonly cut: boolean } {
  const frames: FramePlace[] = [];
  let offset = 0;
  while (offset < sizeBytes) {
    const start = read(offset, prefixBytes + headLimitBytes);
    const headLength = start.length < prefixBytes ? undefined : headLengthOf(start);
    if (headLength === undefined) return { frames, cut: true };
    const bodyOffset = offset + prefixBytes + headLength;
    if (start.length < prefixBytes + headLength) return { frames, cut: true };
    const head = parseHead(start.subarray(prefixBytes, prefixBytes + headLength));
    if (head === undefined || bodyOffset + head.bytes > sizeBytes) return { frames, cut: true };
    frames.push({ head, offset: bodyOffset });
    offset = bodyOffset + head.bytes;
  }
  return { frames, cut: false };
}

function headLengthOf(start: Buffer): number | undefined {
  if (start.readUInt32LE(0) !== skippableMagic) return undefined;
  const length = start.readUInt32LE(4);
  return length <= headLimitBytes ? length : undefined;
}

function parseHead(text: Buffer): FrameHead | undefined {
  try {
    return JSON.parse(text.toString()) as FrameHead;
  } catch {
    return undefined;
  }
}
