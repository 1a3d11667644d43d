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
