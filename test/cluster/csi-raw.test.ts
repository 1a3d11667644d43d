/** Raw volumes on a real array, without Kubernetes: the device itself goes to a node and back. */
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { capability, type Driver, raw } from './csi-harness.ts';
import {
  createVolume,
  newDriver,
  pathOf,
  patience,
  publish,
  reason,
  stage,
  unpublish,
  unstage,
  volume,
} from './csi-steps.ts';

if (reason !== undefined) console.warn(`skipped: raw volumes on a real array ${reason}`);

const targetOf = (driver: Driver, node: string): string => join(driver.root, node, 'raw', 'pod');

async function toPod(driver: Driver, node: string, asked: object = raw): Promise<string> {
  const targetPath = targetOf(driver, node);
  await driver.call(node, 'nodePublishVolume', {
    ...{ volumeId: volume, stagingTargetPath: driver.stagingOf(node), targetPath },
    volumeCapability: asked,
  });
  return targetPath;
}

async function attached(driver: Driver, node: string, detachMode: string): Promise<unknown> {
  const context = await publish(driver, node, detachMode, { capability: raw });
  await stage(driver, node, context, raw);
  return context;
}

/** As the pods of a probe write: past the cache, and durable. */
const write = (to: string, text: string): Promise<unknown> =>
  $`printf %-4096s ${text} | dd of=${to} bs=4096 iflag=fullblock oflag=direct,dsync conv=notrunc`.quiet();
const read = async (from: string): Promise<string> =>
  (await $`dd if=${from} bs=4096 count=1 iflag=direct`.quiet()).stdout.trim();

describe.skipIf(reason !== undefined)('a raw volume', { timeout: 180_000 }, () => {
  test('goes to a node and back, each call said twice, also to a driver made anew', async () => {
    await using driver = newDriver();
    driver.restartBeforeCalls = true;
    await createVolume(driver);
    const context = await attached(driver, 'a', 'fenced');
    await stage(driver, 'a', context, raw);
    const target = await toPod(driver, 'a');
    await toPod(driver, 'a');
    expect(statSync(target).isBlockDevice()).toBe(true);
    expect(readFileSync('/proc/self/mounts', 'utf8').split(driver.root)).toHaveLength(3);
    await write(target, 'from a');
    const stats = await driver.call('a', 'nodeGetVolumeStats', {
      ...{ volumeId: volume, volumePath: target },
    });
    expect(stats).toMatchObject({ usage: [{ total: 320n * 2n ** 20n }] });

    const { loop } = await pathOf(driver, 1);
    for (let time = 0; time < 2; time += 1) {
      await driver.call('a', 'nodeUnpublishVolume', { volumeId: volume, targetPath: target });
      expect(existsSync(target)).toBe(false);
    }
    await unstage(driver, 'a');
    await unstage(driver, 'a');
    expect(existsSync(driver.stagingOf('a'))).toBe(false);
    await unpublish(driver, 'a');
    expect(existsSync(`/sys/block/loop${loop}/loop`)).toBe(false);
    await attached(driver, 'b', 'fenced');
    expect(await read(await toPod(driver, 'b'))).toBe('from a');
  });

  test('is not taken for a file system, nor a file system for it', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    const context = await attached(driver, 'a', 'unfenced');
    await expect(stage(driver, 'a', context, capability)).rejects.toMatchObject({
      code: status.ALREADY_EXISTS,
    });
    await expect(toPod(driver, 'a', capability)).rejects.toMatchObject({
      code: status.FAILED_PRECONDITION,
    });
    expect(existsSync(dirname(targetOf(driver, 'a')))).toBe(false);
  });

  test('fenced: every later write is an error; unfenced: both nodes write the one disk', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await attached(driver, 'a', 'unfenced');
    const first = await toPod(driver, 'a');
    await unpublish(driver, 'a');
    await attached(driver, 'b', 'fenced');
    const second = await toPod(driver, 'b');
    await write(second, 'from b');
    await write(first, 'from a');
    expect(await read(second)).toBe('from a');
    await unpublish(driver, 'b');
    await expect(write(second, 'too late')).rejects.toThrow(/Input\/output error/);
    expect(await read(first)).toBe('from a');
  });

  test('is in use while kubelet keeps it open for a pod, by a loop device over it', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await attached(driver, 'a', 'pending-while-busy');
    const target = await toPod(driver, 'a');
    const over = (await $`losetup --find --show ${target}`.quiet()).stdout.trim();
    await expect(unpublish(driver, 'a')).rejects.toThrow(/is in use/);
    await $`losetup --detach ${over}`.quiet();
    await expect.poll(async () => (await pathOf(driver, 1)).claimed, patience).toBe(false);
    await unpublish(driver, 'a');
  });

  test('what a dead node kept open is freed with it', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await attached(driver, 'a', 'unfenced');
    const over = (await $`losetup --find --show ${await toPod(driver, 'a')}`.quiet()).stdout.trim();
    await driver.kill('a');
    const mounts = [targetOf(driver, 'a'), join(driver.stagingOf('a'), 'device')];
    await $`umount --lazy ${mounts}`.quiet();
    const { device } = await pathOf(driver, 1);
    expect(await driver.tool('release', '--node', 'a')).toMatchObject({ freed: [device] });
    expect(existsSync(`/sys/block/${over.slice('/dev/'.length)}/loop`)).toBe(false);
    expect(lstatSync(driver.stagingOf('a')).isDirectory()).toBe(true);
  });
});
