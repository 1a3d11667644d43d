/** Makes logs of writes for tests, byte for byte as the array writes them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { writesFiles, writesFormat, type WriteRecord } from '../../lib/history/writes.ts';

/** What is left out is 0, and no data. */
export type Written = Pick<WriteRecord, 'generation' | 'op'> & Partial<WriteRecord>;

export interface WriteInput extends Written {
  /** CLOCK_MONOTONIC of the machine. */
  readonly timeNs: bigint;
}

/** A whole log, not compressed. */
export function encodeWrites(records: readonly WriteInput[], sizeBytes: number): Buffer {
  const { magic, version, headerBytes, recordBytes, noData } = writesFormat;
  const bytes = Buffer.alloc(headerBytes + records.length * recordBytes);
  bytes.write(magic, 0, 'latin1');
  bytes.writeUInt32LE(recordBytes, 8);
  bytes.writeUInt32LE(version, 12);
  bytes.writeBigUInt64LE(BigInt(sizeBytes), 16);
  for (const [index, record] of records.entries()) {
    const start = headerBytes + index * recordBytes;
    const { timeNs, offset = 0, dataOffset, length = 0, generation, op, flags = 0 } = record;
    bytes.writeBigUInt64LE(timeNs, start);
    bytes.writeBigUInt64LE(BigInt(offset), start + 8);
    bytes.writeBigUInt64LE(dataOffset === undefined ? noData : BigInt(dataOffset), start + 16);
    bytes.writeUInt32LE(length, start + 24);
    bytes.writeUInt32LE(generation, start + 28);
    bytes.writeUInt8(op, start + 32);
    bytes.writeUInt8(flags, start + 33);
  }
  return bytes;
}

export interface WritesInput {
  readonly sizeBytes: number;
  readonly originNs: bigint;
  /** Node by generation. */
  readonly nodes: Readonly<Record<number, string>>;
  readonly records: readonly WriteInput[];
  /** The file is packed in so many zstd frames; default 1. */
  readonly frames?: number;
}

/** Puts a log of writes into a run's folder, as the end of a run does. */
export function placeWrites(folder: string, input: WritesInput): void {
  const { sizeBytes, originNs, nodes, records, frames = 1 } = input;
  const directory = join(folder, 'history');
  mkdirSync(directory, { recursive: true });
  const bytes = encodeWrites(records, sizeBytes);
  const each = Math.ceil(bytes.length / frames);
  const parts = Array.from({ length: frames }, (_, n) =>
    zstdCompressSync(bytes.subarray(n * each, (n + 1) * each)),
  );
  writeFileSync(join(directory, writesFiles.log), Buffer.concat(parts));
  const paths = Object.entries(nodes).map(([generation, node]) => ({
    node,
    generation: Number(generation),
  }));
  const about = { sizeBytes, originNs: String(originNs), paths };
  writeFileSync(join(directory, writesFiles.paths), JSON.stringify(about));
}
