/**
 * The disk's log of a run's writes, as the array kept it: what each path wrote, flushed, lost or was
 * refused, in the order in which it came to the volume. The records stay in one buffer, 40 bytes
 * each; none is made an object before it is asked for.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { EvidenceError, mebibyte, readInput, readText } from '../core/index.ts';
import { longestRunMs } from './lines.ts';

/** What a record says, by its number in the log. */
export const writeOps = {
  /** Applied to the volume. */
  write: 1,
  flushBegin: 2,
  /** What the path wrote before the flush's begin (`offset`: that record's number) is durable. */
  flushEnd: 3,
  /** Zeroed or discarded. */
  zero: 4,
  /** Answered with an I/O error, not applied. */
  refused: 5,
  /** Acknowledged by a disk that ignores flushes. */
  flushIgnored: 6,
  cut: 7,
  powerLost: 8,
  open: 9,
  close: 10,
  /** A loss of power put the old bytes back. */
  restored: 11,
  /** The path's link changed; `flags` is one of `linkFlags`. */
  link: 12,
  /** The array was killed and began anew: what it logged last, up to 100 ms, is missing. */
  killed: 13,
  /** The path's server took something from the node, which has a way left. */
  revoked: 14,
  /** A revocation was undone. */
  givenBack: 15,
} as const;
type WriteOp = (typeof writeOps)[keyof typeof writeOps];

export const linkFlags = { pass: 0, stall: 1, fail: 2 } as const;

/** Layout of the file; the array's log.go writes it. */
export const writesFormat = {
  magic: 'FDWRLOG1',
  version: 1,
  headerBytes: 64,
  recordBytes: 40,
  /** Mark in the record where no data was kept. */
  noData: 0xffff_ffff_ffff_ffffn,
} as const;

export interface WriteRecord {
  readonly offset: number;
  readonly length: number;
  /** Where the bytes are in writes.data, where they were kept. */
  readonly dataOffset?: number;
  /** Generation of the attachment whose path it came by. */
  readonly generation: number;
  readonly op: WriteOp;
  readonly flags: number;
}

export interface WriteLog {
  /** Size of the volume. */
  readonly sizeBytes: number;
  /** CLOCK_MONOTONIC at the run's t = 0. */
  readonly originNs: bigint;
  readonly paths: readonly { readonly node: string; readonly generation: number }[];
  /** Number of records. */
  readonly length: number;
  /** The file ends within a record: the array was killed. */
  readonly cut: boolean;
  at(index: number): WriteRecord;
  /** Milliseconds on the run's clock. */
  atMs(index: number): number;
  /** The zstd file with the bytes of each write, where the run kept them. */
  readonly dataPath?: string;
}

export const writesFiles = {
  log: 'writes.log.zst',
  data: 'writes.data.zst',
  paths: 'paths.json',
} as const;

export const isWritesFile = (name: string): boolean =>
  Object.values<string>(writesFiles).includes(name);

/** A sentence for each place where records are missing, since the array was killed. */
export function gapsInWrites(log: WriteLog): string[] {
  const gaps: string[] = [];
  for (let index = 0; index < log.length; index += 1) {
    if (log.at(index).op !== writeOps.killed) continue;
    const atS = (log.atMs(index) / 1000).toFixed(1);
    gaps.push(`the array was killed and began anew at ${atS} s: the log of writes has a gap there`);
  }
  return gaps;
}

/** The driver's volumes have 2 GiB (lib/kind/testbed.ts). Whoever tallies writes keeps a byte for each block. */
const mostVolumeBytes = 64 * 1024 * mebibyte;

const pathsSchema = z.object({
  sizeBytes: z.number().int().positive().max(mostVolumeBytes),
  /** Nanoseconds are more than a JSON number holds exactly; the microseconds lost don't matter. */
  originNs: z.union([z.number(), z.string().regex(/^\d+$/)]).transform((ns) => BigInt(ns)),
  paths: z.array(z.object({ node: z.string(), generation: z.number().int().nonnegative() })),
});

function pathsIn(text: string): z.output<typeof pathsSchema> {
  const { data, error } = pathsSchema.safeParse(JSON.parse(text));
  if (data !== undefined) return data;
  const [{ path, message } = { path: [], message: '' }] = error.issues;
  throw new EvidenceError('WRITES_FORMAT', `${writesFiles.paths}: ${path.join('.')}: ${message}`);
}

/** `folder` is the run's. Undefined where its disk kept no log. Throws EvidenceError `WRITES_DAMAGED`. */
export function openWrites(folder: string): WriteLog | undefined {
  const inHistory = (name: string): string => join(folder, 'history', name);
  if (!existsSync(inHistory(writesFiles.log))) return undefined;
  try {
    const paths = pathsIn(readText(inHistory(writesFiles.paths)));
    const bytes = unpack(readInput(inHistory(writesFiles.log), logBytes));
    const data = inHistory(writesFiles.data);
    const log = recordsIn(bytes, paths);
    mustBeBounded(bytes, log);
    return existsSync(data) ? { ...log, dataPath: data } : log;
  } catch (error) {
    throw writesDamaged(folder, error);
  }
}

export const writesDamaged = (folder: string, cause: unknown): EvidenceError =>
  new EvidenceError('WRITES_DAMAGED', `cannot read the log of writes in ${folder}`, { cause });

/** Places in a record. */
const at = { offset: 8, dataOffset: 16, length: 24, generation: 28, op: 32, flags: 33 } as const;
const lastOp = Math.max(...Object.values(writeOps));
const touches = (op: number): boolean =>
  op === writeOps.write || op === writeOps.zero || op === writeOps.restored;

/** Each record is one that the array writes, within the volume and the time of a run. No object is made of any. */
function mustBeBounded(bytes: Buffer, { length: records, sizeBytes, originNs }: WriteLog): void {
  const zeroNs = Number(originNs);
  let start: number = writesFormat.headerBytes;
  for (let index = 0; index < records; index += 1, start += writesFormat.recordBytes) {
    const op = bytes[start + at.op] ?? 0;
    const isOp = op >= writeOps.write && op <= lastOp;
    const atMs = (readNumber(bytes, start) - zeroNs) / 1e6;
    const offset = readNumber(bytes, start + at.offset);
    const length = bytes.readUInt32LE(start + at.length);
    const isWithin = !touches(op) || offset + length <= sizeBytes;
    if (isOp && isWithin && Math.abs(atMs) <= longestRunMs) continue;
    const what = `op ${op} at ${atMs} ms, ${length} bytes at ${offset} of ${sizeBytes}`;
    throw new EvidenceError('WRITES_FORMAT', `record ${index} is ${what}`);
  }
}

/** Without a bigint, of which a log has many: exact up to 8 PiB. */
const readNumber = (bytes: Buffer, at: number): number =>
  bytes.readUInt32LE(at + 4) * 2 ** 32 + bytes.readUInt32LE(at);

/** `bytes`: of writes.log as the array keeps it. */
export function recordsIn(bytes: Buffer, about: z.output<typeof pathsSchema>): WriteLog {
  const { magic, version, headerBytes, recordBytes, noData } = writesFormat;
  const found = bytes.toString('latin1', 0, magic.length);
  const sizes = [bytes.readUInt32LE(8), bytes.readUInt32LE(12)];
  if (found !== magic || sizes.join() !== [recordBytes, version].join()) {
    throw new EvidenceError('WRITES_FORMAT', `it begins with ${found}, ${sizes.join()}`);
  }
  const place = (index: number): number => headerBytes + index * recordBytes;
  const [originHigh, originLow] = [about.originNs >> 32n, about.originNs & 0xffff_ffffn].map(
    Number,
  ) as [number, number];
  return {
    ...about,
    length: Math.floor((bytes.length - headerBytes) / recordBytes),
    cut: (bytes.length - headerBytes) % recordBytes !== 0,
    at(index) {
      const start = place(index);
      const dataOffset = readNumber(bytes, start + at.dataOffset);
      const record = {
        offset: readNumber(bytes, start + at.offset),
        length: bytes.readUInt32LE(start + at.length),
        generation: bytes.readUInt32LE(start + at.generation),
        op: bytes.readUInt8(start + at.op) as WriteOp,
        flags: bytes.readUInt8(start + at.flags),
      };
      return dataOffset === Number(noData) ? record : { ...record, dataOffset };
    },
    // By halves: the difference is exact, and no bigint is made for each record.
    atMs: (index) =>
      ((bytes.readUInt32LE(place(index) + 4) - originHigh) * 2 ** 32 +
        (bytes.readUInt32LE(place(index)) - originLow)) /
      1e6,
  };
}

/** 40 million records: a day of a disk that is written to without a pause. */
const logBytes = 1600 * mebibyte;

/** All frames of a zstd file, at most 1.6 GB: node's own call unpacks the first one and says nothing of the rest. */
export function unpack(packed: Buffer): Buffer {
  const parts: Buffer[] = [];
  let total = 0;
  for (let rest = packed; rest.length > 0; ) {
    const { buffer, engine } = zstdDecompressSync(rest, {
      info: true,
      maxOutputLength: Math.max(1, logBytes - total),
    }) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    parts.push(buffer);
    total += buffer.length;
    rest = rest.subarray(engine.bytesWritten);
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}
