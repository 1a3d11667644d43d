import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeArray } from '../../test/support/fake-array.ts';
import { attachVolume, detachVolume, loopFor } from './backend.ts';
import { layoutOf } from './layout.ts';
import { parseLoopRange } from './loop-device.ts';
import type { StorageBackend } from './paths.ts';
import { defaultAttributes } from './volume-attributes.ts';
import { createVolume } from './volumes.ts';

/** No machine has devices of such numbers. */
const range = parseLoopRange('900000-900002');
const volume = 'pv';
const taints = { keysOf: () => Promise.resolve([]) };

let backend: StorageBackend;
beforeEach(async () => {
  const layout = layoutOf(mkdtempSync(join(tmpdir(), 'forcedetach-loops-')));
  backend = { layout, array: new FakeArray() };
  await createVolume(backend, { volume, sizeBytes: 2 ** 20, shared: false });
});
afterEach(() => rmSync(backend.layout.root, { recursive: true }));

test('a number is free again when its attachment is detached', async () => {
  for (const node of ['a', 'b', 'c']) {
    const asked = { volume, node, attributes: defaultAttributes, manyNodes: true, notes: {} };
    await attachVolume(backend, range, asked);
  }
  await expect(loopFor(backend, range, 4)).rejects.toThrow(/all loop devices/);
  await detachVolume(backend, { volume, node: 'b', taints, notes: {} });
  expect(await loopFor(backend, range, 4)).toBe(900001);
});
