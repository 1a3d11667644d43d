/** Attacks on the disk's log of writes: its records gone, moved, of other paths, or another run's. */
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { unpack, writeOps, writesFiles, writesFormat } from '../../lib/history/writes.ts';

const { headerBytes, recordBytes } = writesFormat;

/** On the clock of each run. */
export interface Faults {
  readonly ownMs: number;
  readonly donorMs: number;
}

/** Of a written history, before the run's list of its files is made. */
export type OnFiles = (directory: string, donorDirectory: string, faults: Faults) => void;

type Records = readonly Buffer[];

/** A whole log again, of the records that `become` leaves; it may alter them. */
export const rewritten =
  (become: (records: Records, sinceNs: bigint) => Records): OnFiles =>
  (directory, _, { ownMs }) => {
    const path = join(directory, writesFiles.log);
    if (!hasLog(directory)) return;
    const bytes = unpack(readFileSync(path));
    const count = Math.floor((bytes.length - headerBytes) / recordBytes);
    const records = Array.from({ length: count }, (_, index) => {
      const start = headerBytes + index * recordBytes;
      return Buffer.from(bytes.subarray(start, start + recordBytes));
    });
    const sinceNs = originOf(directory) + nsOf(ownMs);
    const whole = Buffer.concat([bytes.subarray(0, headerBytes), ...become(records, sinceNs)]);
    writeFileSync(path, zstdCompressSync(whole));
  };

const nsOf = (ms: number): bigint => BigInt(Math.round(ms * 1e6));

interface Paths {
  readonly originNs: string;
  readonly paths: readonly { readonly node: string; readonly generation: number }[];
}

const readPaths = (directory: string): Paths =>
  JSON.parse(readFileSync(join(directory, writesFiles.paths), 'utf8')) as Paths;
const writePaths = (directory: string, about: Paths): void =>
  writeFileSync(join(directory, writesFiles.paths), JSON.stringify(about));
const originOf = (directory: string): bigint => BigInt(readPaths(directory).originNs);
const hasLog = (directory: string): boolean =>
  [writesFiles.log, writesFiles.paths].every((name) => existsSync(join(directory, name)));

const timeOf = (record: Buffer): bigint => record.readBigUInt64LE(0);
const opOf = (record: Buffer): number => record.readUInt8(32);
const pathEnds: readonly number[] = [writeOps.cut, writeOps.powerLost, writeOps.close];

const moved = (byMs: number, isWhole = false) =>
  rewritten((records, sinceNs) =>
    records.map((record) => {
      if (isWhole || timeOf(record) >= sinceNs)
        record.writeBigUInt64LE(timeOf(record) + nsOf(byMs), 0);
      return record;
    }),
  );

/** Of the paths that the first one's node has, or of the others. */
const withoutPathsOf =
  (isVictim: boolean): OnFiles =>
  (directory, ...rest) => {
    if (!hasLog(directory)) return;
    const about = readPaths(directory);
    const [first] = about.paths;
    const isLost = ({ node }: { readonly node: string }): boolean =>
      (node === first?.node) === isVictim;
    const lost = new Set(about.paths.filter(isLost).map(({ generation }) => generation));
    writePaths(directory, { ...about, paths: about.paths.filter((each) => !isLost(each)) });
    rewritten((all) => all.filter((each) => !lost.has(each.readUInt32LE(28))))(directory, ...rest);
  };

/** Each path is another one's node. */
const pathsSwapped: OnFiles = (directory) => {
  if (!hasLog(directory)) return;
  const about = readPaths(directory);
  const nodes = about.paths.map(({ node }) => node).toReversed();
  const paths = about.paths.map((each, index) => ({ ...each, node: nodes[index] ?? each.node }));
  writePaths(directory, { ...about, paths });
};

const gone: OnFiles = (directory) => {
  for (const name of [writesFiles.log, writesFiles.paths])
    rmSync(join(directory, name), { force: true });
};

/** As long after the fault. */
const anothers: OnFiles = (directory, donor, { ownMs, donorMs }) => {
  if (![directory, donor].every(hasLog)) return;
  copyFileSync(join(donor, writesFiles.log), join(directory, writesFiles.log));
  const originNs = String(originOf(donor) + nsOf(donorMs - ownMs));
  writePaths(directory, { ...readPaths(donor), originNs });
};

/** `lateMs`: within which the log may be off. */
export const logAttacks = (
  lateMs: number,
): readonly (readonly [kind: string, files: OnFiles, isHarmless: boolean])[] => [
  ['gone', gone, false],
  ['gone on the victim', withoutPathsOf(true), false],
  ['gone elsewhere', withoutPathsOf(false), false],
  ['gone in part', rewritten((all) => all.slice(0, all.length / 2)), false],
  ['shifted', moved(100_000), false],
  ['early', moved(-100_000, true), false],
  ['swapped', anothers, false],
  ['of another node', pathsSwapped, false],
  ['contradicted', rewritten((all) => all.filter((each) => !pathEnds.includes(opOf(each)))), false],
  ['counted twice', rewritten((all) => all.flatMap((each) => [each, each])), false],
  ['late by less', moved(lateMs / 2, true), true],
];
