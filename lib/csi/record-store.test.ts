import { mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { update } from './backend.ts';
import { type Layout, layoutOf, volumeFolder } from './layout.ts';
import { attach } from './record.ts';
import { createRecord, locked, readRecord, readRecords } from './record-store.ts';

let layout: Layout;
beforeEach(() => {
  layout = layoutOf(mkdtempSync(join(tmpdir(), 'forcedetach-record-')));
});
afterEach(() => rm(layout.root, { recursive: true }));

test('volumes that are not there have no record', async () => {
  expect(await readRecord(layout, 'absent')).toBeUndefined();
  expect(await readRecords(layout)).toEqual(new Map());
  await expect(update(layout, 'absent', (record) => record)).rejects.toThrow(/no volume/);
});

test('changes made at once all arrive', async () => {
  await createRecord(layout, 'pv');
  const nodes = ['a', 'b', 'c', 'd'];
  await Promise.all(
    nodes.map((node, loop) =>
      update(layout, 'pv', (now) => attach(now, { node, loop, mode: 'fenced', wallMs: 1 })),
    ),
  );
  const record = await readRecord(layout, 'pv');
  expect(record?.attachments.map(({ node }) => node).toSorted()).toEqual(nodes);
  expect(record?.nextGeneration).toBe(5);
  expect(readdirSync(volumeFolder(layout, 'pv'))).toEqual(['attachments.json']);
});

test('the lock is given back by work that throws', async () => {
  const failing = locked(layout, () => Promise.reject(new TypeError('no')));
  await expect(failing).rejects.toThrow('no');
  expect(await locked(layout, () => Promise.resolve('held'))).toBe('held');
});
