/** The log of writes is read as it was written, in one zstd frame or many. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { encodeWrites, placeWrites, type WriteInput } from '../../test/support/writes.ts';
import { EvidenceError } from '../core/errors.ts';
import { gapsInWrites, openWrites, writeOps, writesFiles, type WriteLog } from './writes.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'forcedetach-writes-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const originNs = 5_000_000_000_000n;
const write = {
  ...{ generation: 1, op: writeOps.write, offset: 2 ** 35 + 512, length: 4096 },
  dataOffset: 2 ** 33,
};
const link = { generation: 2, op: writeOps.link, flags: 1 };
const records: readonly WriteInput[] = [
  { timeNs: originNs - 1_500_000n, generation: 1, op: writeOps.open },
  { timeNs: originNs + 2_000_000n, ...write },
  { timeNs: originNs + 2_250_000n, ...link },
];
const nodes = { 1: 'a', 2: 'b' };
const input = { sizeBytes: 2 ** 36, originNs, nodes, records };

function opened(): WriteLog {
  const writes = openWrites(folder);
  if (writes === undefined) throw new Error('there is no log');
  return writes;
}

test.each([1, 3])('what was written is read, from %d frames', (frames) => {
  placeWrites(folder, { ...input, frames });
  const writes = opened();
  expect(writes).toMatchObject({ sizeBytes: 2 ** 36, originNs, length: 3, cut: false });
  expect(writes.paths).toEqual([
    { node: 'a', generation: 1 },
    { node: 'b', generation: 2 },
  ]);
  expect(writes.at(1)).toEqual({ ...write, flags: 0 });
  expect(writes.at(2)).toEqual({ ...link, offset: 0, length: 0 });
  expect([0, 1, 2].map((index) => writes.atMs(index))).toEqual([-1.5, 2, 2.25]);
});

test('a run without a log has none, and a cut one says so', () => {
  expect(openWrites(folder)).toBeUndefined();
  placeWrites(folder, input);
  const whole = encodeWrites(records, 2 ** 36);
  const path = join(folder, 'history', writesFiles.log);
  writeFileSync(path, zstdCompressSync(whole.subarray(0, -10)));
  expect(opened()).toMatchObject({ length: 2, cut: true });
});

test('another file is refused', () => {
  placeWrites(folder, input);
  writeFileSync(join(folder, 'history', writesFiles.log), zstdCompressSync(Buffer.alloc(200)));
  expect(() => openWrites(folder)).toThrow(EvidenceError);
});

test('a log that an array left when it was killed says where it has a gap', () => {
  const killed = { timeNs: originNs + 3_500_000_000n, generation: 0, op: writeOps.killed };
  placeWrites(folder, { ...input, records: [...records, killed] });
  expect(gapsInWrites(opened())).toEqual([expect.stringContaining('at 3.5 s')]);
  placeWrites(folder, input);
  expect(gapsInWrites(opened())).toEqual([]);
});

test.each<[string, Partial<typeof input>]>([
  ['a volume of 2^60 bytes', { sizeBytes: 2 ** 60 }],
  ['a volume of nothing', { sizeBytes: 0 }],
  ['a write beyond the volume', { sizeBytes: 1 << 20 }],
  [
    'a record after any run',
    { records: [{ timeNs: 2n ** 63n, generation: 1, op: writeOps.open }] },
  ],
  [
    'an operation that no array logs',
    { records: [{ timeNs: originNs, generation: 1, op: 99 as WriteInput['op'] }] },
  ],
])('%s is damage, and takes no memory', (_what, about) => {
  placeWrites(folder, { ...input, ...about });
  expect(() => openWrites(folder)).toThrow(
    expect.objectContaining({ code: 'WRITES_DAMAGED' }) as Error,
  );
});
