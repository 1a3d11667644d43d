/** The disk's log of writes: of one path only, of other nodes, without ends, late, or cut. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { unpack, writeOps, writesFiles, writesFormat } from '../../../lib/history/writes.ts';
import { orWorse, type EvidenceMutant } from '../mutant.ts';

const { headerBytes, recordBytes } = writesFormat;

/** A whole log again, of the records that `become` leaves; it may alter them. */
const rewritten =
  (become: (records: readonly Buffer[]) => readonly Buffer[]) =>
  (directory: string): void => {
    const path = join(directory, writesFiles.log);
    const bytes = unpack(readFileSync(path));
    const count = Math.floor((bytes.length - headerBytes) / recordBytes);
    const records = Array.from({ length: count }, (_, index) => {
      const start = headerBytes + index * recordBytes;
      return Buffer.from(bytes.subarray(start, start + recordBytes));
    });
    writeFileSync(
      path,
      zstdCompressSync(Buffer.concat([bytes.subarray(0, headerBytes), ...become(records)])),
    );
  };

const generationOf = (record: Buffer): number => record.readUInt32LE(28);
const opOf = (record: Buffer): number => record.readUInt8(32);
const without = (fits: (record: Buffer) => boolean) =>
  rewritten((records) => records.filter((record) => !fits(record)));

const pathEnds: readonly number[] = [writeOps.cut, writeOps.powerLost, writeOps.close];

const fiveMinutesNs = 300_000_000_000n;
const late = rewritten((records) =>
  records.map((record) => {
    record.writeBigUInt64LE(record.readBigUInt64LE(0) + fiveMinutesNs, 0);
    return record;
  }),
);

/** Each path is said to be the other one's node. */
function swapPaths(directory: string): void {
  const path = join(directory, writesFiles.paths);
  const about = JSON.parse(readFileSync(path, 'utf8')) as { paths: { node: string }[] };
  const nodes = about.paths.map(({ node }) => node).toReversed();
  const paths = about.paths.map((each, index) => ({ ...each, node: nodes[index] }));
  writeFileSync(path, JSON.stringify({ ...about, paths }));
}

export const writes: readonly EvidenceMutant[] = (
  [
    ['log-lacks-the-victims-path', without((record) => generationOf(record) === 1)],
    ['log-lacks-the-successors-path', without((record) => generationOf(record) === 2)],
    ['log-lacks-the-ends-of-paths', without((record) => pathEnds.includes(opOf(record)))],
    ['log-is-empty', rewritten(() => [])],
    ['log-ends-in-the-middle', rewritten((all) => all.slice(0, all.length / 2))],
    ['log-is-five-minutes-late', late],
    ['log-names-the-other-nodes', swapPaths],
  ] as const
).map(([name, files]) => ({ name, base: 'fenced' as const, right: orWorse, files }));
