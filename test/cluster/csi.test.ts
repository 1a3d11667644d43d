/** The disk on real loop devices and file systems, without Kubernetes: its processes, called. */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { $ } from 'zx';
import { callSchema } from '../../lib/csi/call-log.ts';
import { capability, Driver } from './csi-harness.ts';

const reason =
  process.getuid?.() !== 0
    ? 'needs root'
    : existsSync('/dev/loop-control')
      ? undefined
      : 'needs loop devices (/dev/loop-control)';
if (reason !== undefined) console.warn(`skipped: the disk on real loop devices ${reason}`);

const volume = 'pv-test';
const newDriver = (): Driver => new Driver(mkdtempSync(join(tmpdir(), 'forcedetach-csi-')));
const createVolume = (driver: Driver): Promise<unknown> =>
  driver.tool('create-volume', '--volume', volume, '--size-bytes', String(64 * 2 ** 20));

async function publish(driver: Driver, node: string, detachMode: string): Promise<unknown> {
  const request = {
    volumeId: volume,
    nodeId: node,
    volumeCapability: capability,
    volumeContext: { detachMode },
  };
  return (await driver.call('controller', 'controllerPublishVolume', request))['publishContext'];
}
const unpublish = (driver: Driver, nodeId: string): Promise<unknown> =>
  driver.call('controller', 'controllerUnpublishVolume', { volumeId: volume, nodeId });
const stage = (driver: Driver, node: string, publishContext: unknown): Promise<unknown> =>
  driver.call(node, 'nodeStageVolume', {
    volumeId: volume,
    publishContext,
    stagingTargetPath: driver.stagingOf(node),
    volumeCapability: capability,
  });
const unstage = (driver: Driver, node: string): Promise<unknown> =>
  driver.call(node, 'nodeUnstageVolume', {
    volumeId: volume,
    stagingTargetPath: driver.stagingOf(node),
  });
const write = (driver: Driver, node: string, file: string, content: string): Promise<unknown> =>
  $`printf %s ${content} | dd of=${join(driver.stagingOf(node), file)} conv=fsync`.quiet();
const read = (driver: Driver, node: string, file: string): string =>
  readFileSync(join(driver.stagingOf(node), file), 'utf8');
const loopOf = (context: unknown): number => Number((context as { loop: string }).loop);
const logOf = (driver: Driver, host: string): ReturnType<typeof callSchema.parse>[] =>
  readFileSync(join(driver.shared, 'log', `csi-${host}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => callSchema.parse(JSON.parse(line)));

describe.skipIf(reason !== undefined)('the disk', { timeout: 60_000 }, () => {
  test.each([false, true])(
    'goes to a node and back, each call said twice (process killed before each call: %s)',
    async (restartBeforeCalls) => {
      await using driver = newDriver();
      driver.restartBeforeCalls = restartBeforeCalls;
      await createVolume(driver);
      const context = await publish(driver, 'a', 'fenced');
      expect(await publish(driver, 'a', 'fenced')).toEqual(context);
      await stage(driver, 'a', context);
      await stage(driver, 'a', context);
      const target = driver.targetOf('a');
      const request = {
        volumeId: volume,
        publishContext: context,
        stagingTargetPath: driver.stagingOf('a'),
        targetPath: target,
        volumeCapability: capability,
      };
      for (let time = 0; time < 2; time += 1) await driver.call('a', 'nodePublishVolume', request);
      await write(driver, 'a', 'kept', 'from a');
      expect(readFileSync(join(target, 'kept'), 'utf8')).toBe('from a');
      const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
      expect(mounts.filter((line) => line.includes(driver.root))).toHaveLength(2);

      for (let time = 0; time < 2; time += 1) {
        await driver.call('a', 'nodeUnpublishVolume', { volumeId: volume, targetPath: target });
      }
      await unstage(driver, 'a');
      await unstage(driver, 'a');
      await unpublish(driver, 'a');
      await unpublish(driver, 'a');
      expect(existsSync(`/sys/block/loop${loopOf(context)}/loop`)).toBe(false);
      expect(existsSync(driver.stagingOf('a'))).toBe(false);

      const next = await publish(driver, 'b', 'fenced');
      expect(next).toEqual({ generation: '2', loop: String(loopOf(context) + 1) });
      await stage(driver, 'b', next);
      expect(read(driver, 'b', 'kept')).toBe('from a');
      const staged = logOf(driver, 'b').find(({ call }) => call === 'NodeStageVolume');
      expect(staged?.notes).toMatchObject({
        formatted: false,
        fsckExitCode: 0,
        generation: 2,
        writtenBefore: { 'b/2': 0 },
      });
    },
  );

  test('is held by one node at a time for as long as Kubernetes has not taken it back', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await publish(driver, 'a', 'unfenced');
    const second = publish(driver, 'b', 'unfenced');
    await expect(second).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
  });

  test('unfenced: after a detach both nodes write, and their caches differ', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await stage(driver, 'a', await publish(driver, 'a', 'unfenced'));
    await write(driver, 'a', 'before', 'both see this');
    await unpublish(driver, 'a');
    await write(driver, 'a', 'after-detach', 'the victim still writes');
    const context = await publish(driver, 'b', 'unfenced');
    await stage(driver, 'b', context);
    expect(read(driver, 'b', 'before')).toBe('both see this');
    await write(driver, 'b', 'from-b', 'only b sees this');
    await write(driver, 'a', 'from-a', 'only a sees this');
    expect(existsSync(join(driver.stagingOf('a'), 'from-b'))).toBe(false);
    expect(existsSync(join(driver.stagingOf('b'), 'from-a'))).toBe(false);

    const entry = logOf(driver, 'b').find(({ call }) => call === 'NodeStageVolume');
    expect(String(entry?.notes['fsck'])).toContain('recovering journal');
    const before = entry?.notes['writtenBefore'] as Record<string, number>;
    expect(before['b/2']).toBe(0);
    expect(before['a/1']).toBeGreaterThan(0);
  });

  test.each([false, true])(
    'fenced: a detach ends the victim’s writes for good (process killed before each call: %s)',
    async (restartBeforeCalls) => {
      await using driver = newDriver();
      driver.restartBeforeCalls = restartBeforeCalls;
      await createVolume(driver);
      const context = await publish(driver, 'a', 'fenced');
      await stage(driver, 'a', context);
      await write(driver, 'a', 'synced', 'acknowledged');
      await unpublish(driver, 'a');
      expect(readFileSync(`/sys/block/loop${loopOf(context)}/loop/sizelimit`, 'utf8').trim()).toBe(
        '512',
      );
      await expect(write(driver, 'a', 'late', 'never')).rejects.toThrow(/error|EIO|Read-only/i);
      await unpublish(driver, 'a');

      await stage(driver, 'b', await publish(driver, 'b', 'fenced'));
      expect(read(driver, 'b', 'synced')).toBe('acknowledged');
      await write(driver, 'b', 'synced', 'by the successor');

      await driver.kill('a');
      await unstage(driver, 'a');
      const again = stage(driver, 'a', context);
      await expect(again).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
      await unstage(driver, 'b');
      await unpublish(driver, 'b');

      await stage(driver, 'a', await publish(driver, 'a', 'fenced'));
      expect(read(driver, 'a', 'synced')).toBe('by the successor');
      expect(existsSync(join(driver.stagingOf('a'), 'late'))).toBe(false);
    },
  );

  test('a cut that comes before the node opened the device leaves nothing to open', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    const context = await publish(driver, 'a', 'fenced');
    await unpublish(driver, 'a');
    const late = stage(driver, 'a', context);
    await expect(late).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
    expect(existsSync(`/sys/block/loop${loopOf(context)}/loop`)).toBe(false);
  });

  test('a played crash loses what was not synced, and the node may come back', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    const context = await publish(driver, 'a', 'unfenced');
    await stage(driver, 'a', context);
    await write(driver, 'a', 'synced', 'before');
    await write(driver, 'a', 'unsynced', 'before');
    const mount = driver.stagingOf('a');
    await $`printf after > ${join(mount, 'synced')} && sync ${join(mount, 'synced')}`.quiet();
    await $`printf after | dd of=${join(mount, 'unsynced')} conv=notrunc`.quiet();

    const { devices } = await driver.tool('cut', '--volume', volume, '--node', 'a');
    expect(devices).toMatchObject([{ device: `/dev/loop${loopOf(context)}`, generation: 1 }]);
    await expect(stage(driver, 'a', context)).rejects.toMatchObject({
      code: status.FAILED_PRECONDITION,
    });
    await driver.kill('a');
    await $`umount ${mount}`.quiet();
    const released = await driver.tool('release', '--node', 'a');
    expect(released).toEqual({ freed: [`/dev/loop${loopOf(context)}`], busy: [] });

    await stage(driver, 'a', context);
    expect(read(driver, 'a', 'synced')).toBe('after');
    expect(read(driver, 'a', 'unsynced')).not.toContain('after');
    const entry = logOf(driver, 'a').findLast(({ call }) => call === 'NodeStageVolume');
    expect(String(entry?.notes['fsck'])).toContain('recovering journal');
  });

  test('release frees what nobody has mounted, and never what is not ours', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    const context = await publish(driver, 'a', 'unfenced');
    await stage(driver, 'a', context);
    const foreign = join(driver.root, 'foreign.img');
    await $`truncate -s 1M ${foreign} && losetup /dev/loop5007 ${foreign}`.quiet();
    try {
      const busy = await driver.tool('release', '--all');
      expect(busy).toEqual({ freed: [], busy: [`/dev/loop${loopOf(context)}`] });
      await $`umount ${driver.stagingOf('a')}`.quiet();
      const freed = await driver.tool('release', '--all');
      expect(freed).toEqual({ freed: [`/dev/loop${loopOf(context)}`], busy: [] });
      expect(existsSync('/sys/block/loop5007/loop')).toBe(true);
    } finally {
      await $`losetup -d /dev/loop5007`.quiet();
    }
  });

  test('registers with kubelet and names its node', async () => {
    await using driver = newDriver();
    expect(await driver.call('a', 'nodeGetInfo', {})).toMatchObject({ nodeId: 'a' });
    const socket = driver.registrationSocketOf('a');
    expect(await driver.callSocket(socket, 'Registration', 'getInfo', {})).toMatchObject({
      type: 'CSIPlugin',
      name: 'disk.forcedetach.dev',
      endpoint: driver.socketOf('a'),
      supportedVersions: ['1.0.0'],
    });
    const plugin = await driver.callSocket(driver.socketOf('a'), 'Identity', 'getPluginInfo', {});
    expect(plugin).toMatchObject({ name: 'disk.forcedetach.dev' });
  });

  test.each([
    ['controller', 'controllerPublishVolume', { nodeId: 'a' }, status.INVALID_ARGUMENT],
    ['controller', 'controllerPublishVolume', { volumeId: volume }, status.INVALID_ARGUMENT],
    [
      'controller',
      'controllerPublishVolume',
      { volumeId: 'absent', nodeId: 'a', volumeCapability: capability },
      status.NOT_FOUND,
    ],
    ['controller', 'controllerUnpublishVolume', {}, status.INVALID_ARGUMENT],
    ['controller', 'validateVolumeCapabilities', { volumeId: 'absent' }, status.INVALID_ARGUMENT],
    ['controller', 'createVolume', { name: 'new' }, status.UNIMPLEMENTED],
    ['a', 'nodeStageVolume', { volumeId: volume }, status.INVALID_ARGUMENT],
    ['a', 'nodePublishVolume', { volumeId: volume }, status.INVALID_ARGUMENT],
    ['a', 'nodeUnstageVolume', { volumeId: volume }, status.INVALID_ARGUMENT],
    ['a', 'nodeUnpublishVolume', { volumeId: volume }, status.INVALID_ARGUMENT],
  ] as const)(
    '%s answers %s of %o with the code that CSI asks for',
    async (who, method, request, code) => {
      await using driver = newDriver();
      await expect(driver.call(who, method, request)).rejects.toMatchObject({ code });
    },
  );
});
