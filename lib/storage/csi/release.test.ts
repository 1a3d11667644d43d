import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeArray } from '../../../test/support/fake-array.ts';
import type { PathStatus } from './array-client.ts';
import { attachVolume } from './backend.ts';
import { layoutOf } from './layout.ts';
import { type StorageBackend, failHeld, losePower } from './paths.ts';
import { defaultAttributes } from './requests.ts';
import { createVolume } from './volumes.ts';

const volume = 'pv';
/** No machine has devices of such numbers. */
const loops = { first: 900000, last: 900003 };

let array: FakeArray;
let backend: StorageBackend;
beforeEach(async () => {
  array = new FakeArray();
  backend = { layout: layoutOf(mkdtempSync(join(tmpdir(), 'forcedetach-release-'))), array };
  await createVolume(backend, { volume, sizeBytes: 2 ** 20, shared: false });
  await attachAndOpen('a');
});
afterEach(() => rm(backend.layout.root, { recursive: true }));

async function attachAndOpen(node: string): Promise<void> {
  const asked = { volume, node, attributes: defaultAttributes, manyNodes: true, notes: {} };
  const { generation, loop } = await attachVolume(backend, loops, asked);
  await array.open({ volume, node, generation, loop, keepData: false, flushes: 'honest' });
}

test('the canary is written while the path still serves, and a second call knows of it', async () => {
  const seen: string[] = [];
  const writeCanary = async (path: PathStatus): Promise<void> => {
    const [now] = await array.status(path.volume);
    seen.push(`${path.generation} ${now?.state}`);
  };
  const asked = { node: 'a', unflushed: 'keeps', seed: '1' } as const;
  const first = await losePower(backend, { ...asked, writeCanary });
  expect(first.lost).toMatchObject([{ volume, canaryAt: expect.any(Number) }]);
  const again = await losePower(backend, { ...asked, writeCanary });
  expect(again.lost[0]?.canaryAt).toBe(first.lost[0]?.canaryAt);
  expect(seen).toEqual(['1 open']);
});

test('a canary that can’t be written is told of, and the power is lost all the same', async () => {
  const writeCanary = (): Promise<void> => Promise.reject(new Error('read-only file system'));
  const asked = { node: 'a', unflushed: 'keeps', seed: '1' } as const;
  const { lost } = await losePower(backend, { ...asked, writeCanary });
  expect(lost).toMatchObject([{ paths: 1, canaryError: 'read-only file system' }]);
  expect(lost[0]?.canaryAt).toBeUndefined();
  expect((await array.status()).map(({ state }) => state)).toEqual(['cut']);
});

test('a path that answers nothing is closed by force, cut or behind a link that stalls; others stay', async () => {
  await array.cut({ volume, generation: 1, why: 'fence', how: 'hang' });
  await attachAndOpen('b');
  await attachAndOpen('c');
  await array.link({ node: 'b', state: 'stall' });
  for (const { generation } of await array.status())
    array.use(volume, generation, { claimed: true });
  for (const node of ['a', 'b', 'c']) await failHeld(array, node);
  const now = await array.status();
  expect(now.map(({ node, state }) => `${node} ${state}`)).toEqual([
    'a closed',
    'b closed',
    'c open',
  ]);
});
