/** Volumes made, grown and removed by CSI calls, on a real array and its loop devices. */
import { existsSync, readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { capability, type Driver, xfs } from './csi-harness.ts';
import {
  newDriver,
  publish,
  reason,
  stage,
  unpublish,
  unstage,
  volume,
  write,
} from './csi-steps.ts';

const mebibyte = 2 ** 20;
const controller = (driver: Driver, method: string, request: object): Promise<unknown> =>
  driver.call('controller', method, request);
const make = (driver: Driver, sizeBytes: number): Promise<unknown> =>
  controller(driver, 'createVolume', {
    name: volume,
    capacityRange: { requiredBytes: BigInt(sizeBytes) },
    volumeCapabilities: [capability],
  });
const remove = (driver: Driver): Promise<unknown> =>
  controller(driver, 'deleteVolume', { volumeId: volume });
const grow = (driver: Driver, sizeBytes: number): Promise<unknown> =>
  controller(driver, 'controllerExpandVolume', {
    volumeId: volume,
    capacityRange: { requiredBytes: BigInt(sizeBytes) },
  });
const sizeOf = async (path: string): Promise<number> => {
  const { blocks, bsize } = await statfs(path);
  return blocks * bsize;
};

/** ext4 grows while it is mounted only for holders of CAP_SYS_RESOURCE, bit 24; some sandboxes lack it. */
const effective = /^CapEff:\t([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
const mayResize = (BigInt(`0x${effective ?? '0'}`) & (1n << 24n)) !== 0n;
if (!mayResize) console.warn('skipped: growing ext4 needs CAP_SYS_RESOURCE');
if (reason !== undefined) console.warn(`skipped: provisioning on a real array ${reason}`);

describe.skipIf(reason !== undefined)('provisioning', { timeout: 240_000 }, () => {
  test('a volume of the same name, made anew, is blank and counts its paths on', async () => {
    await using driver = newDriver();
    await driver.start('a');
    await make(driver, 64 * mebibyte);
    await stage(driver, 'a', await publish(driver, 'a', 'fenced'));
    await write(driver, 'a', 'file', 'of the first volume');
    await expect(remove(driver)).rejects.toThrow(/is attached to a/);
    await unpublish(driver, 'a');
    await expect(remove(driver)).rejects.toThrow(/is still mounted on a/);
    await unstage(driver, 'a');
    await remove(driver);
    await remove(driver);

    await make(driver, 64 * mebibyte);
    const context = await publish(driver, 'a', 'fenced');
    expect(context).toEqual({ generation: '2' });
    await stage(driver, 'a', context);
    expect(existsSync(join(driver.stagingOf('a'), 'file'))).toBe(false);
    await write(driver, 'a', 'file', 'of the second volume');
  });

  test.each([
    ...(mayResize ? [{ name: 'ext4', fsCapability: capability, from: 64, to: 128 }] : []),
    { name: 'xfs', fsCapability: xfs, from: 320, to: 512 },
  ])('$name grows once nobody uses it', async ({ fsCapability, from, to }) => {
    await using driver = newDriver();
    await driver.start('a');
    await make(driver, from * mebibyte);
    const staging = driver.stagingOf('a');
    const stageIt = async (): Promise<void> => {
      await driver.call('a', 'nodeStageVolume', {
        volumeId: volume,
        publishContext: await publish(driver, 'a', 'unfenced'),
        stagingTargetPath: staging,
        volumeCapability: fsCapability,
      });
    };
    await stageIt();
    await expect(grow(driver, to * mebibyte)).rejects.toThrow(/is attached to a/);
    const before = await sizeOf(staging);
    await unstage(driver, 'a');
    await unpublish(driver, 'a');
    await grow(driver, to * mebibyte);
    await stageIt();
    expect(await sizeOf(staging)).toBe(before);
    const grown = { volumeId: volume, volumePath: staging };
    expect(await driver.call('a', 'nodeExpandVolume', grown)).toMatchObject({
      capacityBytes: BigInt(to * mebibyte),
    });
    expect(await sizeOf(staging)).toBeGreaterThan((to - from / 2) * mebibyte);
    const { usage } = (await driver.call('a', 'nodeGetVolumeStats', grown)) as {
      readonly usage: readonly { readonly total: bigint }[];
    };
    expect(Number(usage[0]?.total)).toBe(await sizeOf(staging));
  });
});
