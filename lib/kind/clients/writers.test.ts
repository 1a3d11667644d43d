/** Writers that never had a route: they end when they are told to, and say what they have written. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SegmentList } from '../../history/records.ts';
import { historyDirectory } from '../../history/recorder.ts';
import { readSegment } from '../../history/segment-reader.ts';
import { startWriterProcesses } from './writers.ts';
import { mysql } from '../../mysql/database.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forcedetach-writers-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const files = [
  'reads-inside.hist',
  'reads-outside.hist',
  'writer-inside.hist',
  'writer-outside.hist',
];

test('the writers list all that they have written, twice too', async () => {
  const spec = { connections: 1, rate: 5, seed: 's', readEveryMs: 500 } as const;
  const writers = await startWriterProcesses({
    real: mysql.real,
    specs: [
      { ...spec, client: 'inside' },
      { ...spec, client: 'outside' },
    ],
    ...{ folder, originNs: process.hrtime.bigint(), seed: 's' },
    routes: { way: () => undefined, onChange: () => undefined },
  });
  const directory = historyDirectory(folder);
  const there = (): string[] => readdirSync(directory).filter((file) => file.endsWith('.hist'));
  await expect.poll(there, { timeout: 30_000 }).toHaveLength(4);
  const told: SegmentList = await writers.stop();
  expect(there().toSorted()).toEqual(files);
  const ends = files
    .map((file) => file.replace('.hist', ''))
    .map((segment) => [segment, readSegment(directory, segment).end]);
  expect(told).toEqual(Object.fromEntries(ends));
  expect(await writers.stop()).toEqual(told);
});
