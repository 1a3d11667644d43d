import { mkdtempSync, readdirSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Layout, layoutOf, volumeFolder } from './layout.ts';
import { attach, newRecord, locked, readRecord, updateRecord, writeRecord } from './record.ts';
import { defaultAttributes } from './requests.ts';

let layout: Layout;
beforeEach(() => {
  layout = layoutOf(mkdtempSync(join(tmpdir(), 'forcedetach-record-')));
});
afterEach(() => rm(layout.root, { recursive: true }));

test('changes made at once all arrive', async () => {
  await mkdir(volumeFolder(layout, 'pv'), { recursive: true });
  await writeRecord(layout, 'pv', newRecord());
  const attributes = defaultAttributes;
  const nodes = ['a', 'b', 'c', 'd'];
  await Promise.all(
    nodes.map((node, loop) =>
      updateRecord(layout, 'pv', (now) => attach(now, { node, loop, attributes, wallMs: 1 })),
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
