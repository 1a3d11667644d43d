import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeArray } from '../../test/support/fake-array.ts';
import {
  CreateVolumeRequestSchema,
  type CreateVolumeRequest,
  ListVolumesRequestSchema,
  VolumeCapability_AccessMode_Mode as Mode,
} from './gen/csi_pb.js';
import { layoutOf } from './layout.ts';
import { provision } from './provision.ts';

const root = (): string => mkdtempSync(join(tmpdir(), 'forcedetach-provision-'));
let layout = layoutOf('');
beforeEach(() => {
  layout = layoutOf(root());
});
afterEach(() => rm(layout.root, { recursive: true }));

interface Asked {
  readonly name?: string;
  readonly parameters?: Record<string, string>;
  readonly sizeBytes?: number;
  readonly isRaw?: boolean;
}
const requestFor = ({
  name = 'pv',
  parameters = {},
  sizeBytes = 0,
  isRaw = false,
}: Asked): CreateVolumeRequest =>
  create(CreateVolumeRequestSchema, {
    name,
    parameters,
    capacityRange: { requiredBytes: BigInt(sizeBytes) },
    volumeCapabilities: [
      {
        accessType: isRaw
          ? { case: 'block', value: {} }
          : { case: 'mount', value: { fsType: 'ext4' } },
        accessMode: { mode: Mode.SINGLE_NODE_WRITER },
      },
    ],
  });
const make = (asked: Asked = {}): unknown =>
  provision({ layout, array: new FakeArray() }).createVolume?.(requestFor(asked), {});

test('a volume made twice is one; with other parameters or too small it is refused', async () => {
  const parameters = { detachMode: 'fenced' };
  const first = await make({ parameters });
  expect(first).toMatchObject({ volume: { volumeId: 'pv', volumeContext: parameters } });
  expect(await make({ parameters })).toEqual(first);
  await expect(make({ parameters: {} })).rejects.toMatchObject({ code: status.ALREADY_EXISTS });
  await expect(make({ parameters, sizeBytes: 2 ** 40 })).rejects.toMatchObject({
    code: status.ALREADY_EXISTS,
  });
});

test('parameters that no disk has are refused when the volume is made', async () => {
  await expect(make({ parameters: { detachMode: 'sometimes' } })).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
  });
});

test('a disk can be had raw, a shared directory cannot', async () => {
  expect(await make({ isRaw: true })).toMatchObject({ volume: { volumeId: 'pv' } });
  const parameters = { detachMode: 'shared-file' };
  await expect(make({ name: 'shared', parameters, isRaw: true })).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
  });
  expect(await make({ name: 'shared', parameters })).toBeDefined();
});

test('any name makes a handle that is one path segment, always the same', async () => {
  const [one, again, other] = await Promise.all(
    ['ü/../x', 'ü/../x', 'ü/../y'].map(async (name) => make({ name })),
  );
  expect(one).toMatchObject({
    volume: { volumeId: expect.stringMatching(/^volume-[0-9a-f]{32}$/) },
  });
  expect(again).toEqual(one);
  expect(other).not.toEqual(one);
});

test('volumes are listed page by page, also when the last one shown is gone', async () => {
  for (const name of ['a', 'b', 'c', 'd']) await make({ name });
  const handlers = provision({ layout, array: new FakeArray() });
  const list = (startingToken: string): unknown =>
    handlers.listVolumes?.(create(ListVolumesRequestSchema, { startingToken, maxEntries: 2 }), {});
  const named = (...names: string[]): object[] =>
    names.map((volumeId) => ({ volume: { volumeId } }));
  const first = (await list('')) as { readonly nextToken: string };
  expect(first).toMatchObject({ entries: named('a', 'b') });
  await rm(join(layout.volumes, 'b'), { recursive: true });
  expect(await list(first.nextToken)).toMatchObject({ entries: named('c', 'd'), nextToken: '' });
  await expect(list('somewhere')).rejects.toMatchObject({ code: status.ABORTED });
});
