/** What the property test found (test/property/csi.test.ts), each once, small. */
import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeArray } from '../../../test/support/fake-array.ts';
import { attachVolume, detachVolume } from './backend.ts';
import { controller } from './controller.ts';
import { ControllerUnpublishVolumeRequestSchema } from './gen/csi_pb.js';
import { layoutOf, recordPath } from './layout.ts';
import { openPath, type StorageBackend } from './paths.ts';
import { heldBy, neededRecord } from './record.ts';
import { readAttributes } from './requests.ts';
import { createVolume } from './volumes.ts';

const volume = 'pv';
const node = 'a';
/** No machine has devices of such numbers. */
const loops = { first: 900010, last: 900017 };
const taints = (): Promise<never[]> => Promise.resolve([]);

let array: FakeArray;
let backend: StorageBackend;
beforeEach(async () => {
  array = new FakeArray();
  backend = { array, layout: layoutOf(mkdtempSync(join(tmpdir(), 'forcedetach-late-'))) };
  await createVolume(backend, { volume, sizeBytes: 2 ** 20, shared: false });
});
afterEach(() => rm(backend.layout.root, { recursive: true }));

async function attachAndOpen(detachMode: string): Promise<void> {
  const attributes = readAttributes({ detachMode });
  const asked = { volume, node, attributes, manyNodes: false, notes: {} };
  const { generation, loop } = await attachVolume(backend, loops, asked);
  await array.open({ volume, node, generation, loop, keepData: false, flushes: 'honest' });
}
const detach = (): Promise<unknown> => detachVolume(backend, { volume, node, taints, notes: {} });

test.each(['fenced', 'ack-early', 'pending-while-busy'])(
  '%s: a detach that goes on late takes nothing of a newer attachment',
  async (mode) => {
    await attachAndOpen(mode);
    array.before = async (request) => {
      if (request !== 'cut') return;
      array.before = () => undefined;
      await detach();
      await attachAndOpen(mode);
    };
    await detach();
    const record = await neededRecord(backend.layout, volume);
    expect(heldBy(record, node)).toMatchObject({ generation: 2, state: 'attached' });
    const path = (await array.status(volume)).find(({ generation }) => generation === 2);
    expect(path?.state).toBe('open');
  },
);

test('what can not be read is not detached: the call fails', async () => {
  await attachAndOpen('fenced');
  await writeFile(recordPath(backend.layout, volume), '{');
  const { controllerUnpublishVolume } = controller({ backend, loops, taints });
  const request = { volumeId: volume, nodeId: node };
  await expect(
    controllerUnpublishVolume?.(create(ControllerUnpublishVolumeRequestSchema, request), {}),
  ).rejects.toThrow(SyntaxError);
});

test.each([
  ['connection', []],
  ['export', [1]],
])('a fence by %s answers what the storage shows to be cut', async (revocation, cut) => {
  const attributes = readAttributes({ transport: 'nbd', revocation, detachMode: 'fenced' });
  const asked = { volume, attributes, manyNodes: false, notes: {}, node };
  await openPath(backend, volume, await attachVolume(backend, loops, asked), attributes);
  const devices = await detachVolume(backend, { volume, node, taints, notes: {} });
  expect(devices.map(({ generation }) => generation)).toEqual(cut);
});

test('over a network the array is asked for a path that the initiator connects to by its name', async () => {
  const attributes = readAttributes({ transport: 'nbd' });
  const asked = { volume, attributes, manyNodes: false, notes: {}, node };
  await openPath(backend, volume, await attachVolume(backend, loops, asked), attributes);
  expect(array.opened.at(-1)?.connect).toContain(`export=forcedetach.${volume}.1,`);
});
