/** Attacks on the disk's log of writes: its records gone, moved, of other paths, or another run's. */
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { unpack, writeOps, writesFiles, writesFormat } from '../../lib/history/writes.ts';

const { headerBytes, recordBytes } = writesFormat;

/** Of a written history, before the run's list of its files is made. */
export type OnFiles = (directory: string, donorDirectory: string) => void;

type Records = readonly Buffer[];

/** A whole log again, of the records that `become` leaves; it may alter them. */
export const rewritten =
  (become: (records: Records) => Records): OnFiles =>
  (directory) => {
    const path = join(directory, writesFiles.log);
    if (!existsSync(path)) return;
    const bytes = unpack(readFileSync(path));
    const count = Math.floor((bytes.length - headerBytes) / recordBytes);
    const records = Array.from({ length: count }, (_, index) => {
      const start = headerBytes + index * recordBytes;
      return Buffer.from(bytes.subarray(start, start + recordBytes));
    });
    const whole = Buffer.concat([bytes.subarray(0, headerBytes), ...become(records)]);
    writeFileSync(path, zstdCompressSync(whole));
  };

const opOf = (record: Buffer): number => record.readUInt8(32);
const pathEnds: readonly number[] = [writeOps.cut, writeOps.powerLost, writeOps.close];

const moved = (byMs: number) =>
  rewritten((records) =>
    records.map((record) => {
      record.writeBigUInt64LE(record.readBigUInt64LE(0) + BigInt(byMs) * 1_000_000n, 0);
      return record;
    }),
  );

/** Each path is another one's node. */
const pathsSwapped: OnFiles = (directory) => {
  const path = join(directory, writesFiles.paths);
  if (!existsSync(path)) return;
  const about = JSON.parse(readFileSync(path, 'utf8')) as { paths: { node: string }[] };
  const nodes = about.paths.map(({ node }) => node).toReversed();
  const paths = about.paths.map((each, index) => ({ ...each, node: nodes[index] }));
  writeFileSync(path, JSON.stringify({ ...about, paths }));
};

const gone: OnFiles = (directory) => {
  for (const name of [writesFiles.log, writesFiles.paths])
    rmSync(join(directory, name), { force: true });
};

const anothers: OnFiles = (directory, donor) => {
  const names = [writesFiles.log, writesFiles.paths];
  if (!names.every((name) => [directory, donor].every((in_) => existsSync(join(in_, name)))))
    return;
  for (const name of names) copyFileSync(join(donor, name), join(directory, name));
};

/** `lateMs`: within which the log may be off. */
export const logAttacks = (
  lateMs: number,
): readonly (readonly [kind: string, files: OnFiles, isHarmless: boolean])[] => [
  ['gone', gone, false],
  ['gone in part', rewritten((all) => all.slice(0, all.length / 2)), false],
  ['late', moved(100_000), false],
  ['early', moved(-100_000), false],
  ['swapped', anothers, false],
  ['of another node', pathsSwapped, false],
  ['contradicted', rewritten((all) => all.filter((each) => !pathEnds.includes(opOf(each)))), false],
  ['late by less', moved(lateMs / 2), true],
];
