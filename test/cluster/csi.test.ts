/** The disk on a real array and real file systems, without Kubernetes: its processes, called. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, test, vi } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { canaryFolder, unsyncedCanary } from '../../lib/storage/csi/canary.ts';
import { capability } from './csi-harness.ts';
import {
  createVolume,
  logOf,
  losePower,
  newDriver,
  pathOf,
  patience,
  publish,
  read,
  reason,
  stage,
  unpublish,
  unstage,
  volume,
  write,
} from './csi-steps.ts';

if (reason !== undefined) console.warn(`skipped: the disk on a real array ${reason}`);

describe.skipIf(reason !== undefined)('the disk', { timeout: 180_000 }, () => {
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
      const first = await pathOf(driver, 1);
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
      expect(existsSync(`/sys/block/loop${first.loop}/loop`)).toBe(false);
      expect(existsSync(driver.stagingOf('a'))).toBe(false);

      const next = await publish(driver, 'b', 'fenced');
      expect(next).toEqual({ generation: '2' });
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
      expect(await pathOf(driver, 1)).toMatchObject({ node: 'a', state: 'cut', claimed: true });
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

  test('a fence that comes while the node mounts its path is seen by the node', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    const context = await publish(driver, 'a', 'fenced');
    // blkid is the first to look at the open path: it says so, and waits to be let.
    driver.before(
      'blkid',
      `touch ${driver.root}/opening; until [ -e ${driver.root}/open ]; do sleep 0.05; done`,
    );
    await driver.kill('a');
    const outcome = expect(stage(driver, 'a', context)).rejects.toThrow();
    await vi.waitFor(() => expect(existsSync(join(driver.root, 'opening'))).toBe(true), patience);
    await unpublish(driver, 'a');
    writeFileSync(join(driver.root, 'open'), '');
    await outcome;
    expect(await pathOf(driver, 1)).toMatchObject({ state: 'closed', writes: 0 });
  });

  test('a call that is made anew while the first still waits for the disk is sent away', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    const context = await publish(driver, 'a', 'unfenced');
    await driver.tool('sever', '--node', 'a', '--how', 'stalls');
    const first = stage(driver, 'a', context);
    await vi.waitFor(
      async () => expect((await pathOf(driver, 1)).held).toBeGreaterThan(0),
      patience,
    );
    await expect(stage(driver, 'a', context)).rejects.toMatchObject({ code: status.ABORTED });
    await driver.tool('restore', '--node', 'a');
    await first;
    await stage(driver, 'a', context);
    await write(driver, 'a', 'file', 'mounted once');
  });

  test('a played crash loses what was not synced, and the node may come back', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    const context = await publish(driver, 'a', 'unfenced');
    await stage(driver, 'a', context);
    await write(driver, 'a', 'synced', 'before');
    const mount = driver.stagingOf('a');
    mkdirSync(join(mount, canaryFolder));
    const canary = join(canaryFolder, unsyncedCanary);
    await write(driver, 'a', canary, 'before'.padEnd(4096, '\n'));
    await $`printf after > ${join(mount, 'synced')} && sync ${join(mount, 'synced')}`.quiet();

    const lost = await losePower(driver);
    expect(lost).toMatchObject({
      devices: [{ volume, generation: 1 }],
      lost: [{ volume, paths: 1, canaryAt: expect.any(Number) }],
    });
    expect(read(driver, 'a', canary).trimEnd()).toBe('after');
    await expect(stage(driver, 'a', context)).rejects.toMatchObject({
      code: status.FAILED_PRECONDITION,
    });
    await driver.kill('a');
    await $`umount ${mount}`.quiet();
    const { device } = await pathOf(driver, 1);
    const released = await driver.tool('release', '--node', 'a');
    expect(released).toEqual({ freed: [device], busy: [] });

    // Kubernetes asks by the name it knows, and gets a new path: nothing is un-cut.
    await stage(driver, 'a', context);
    expect(await pathOf(driver, 1)).toHaveProperty('cutNs');
    expect(await pathOf(driver, 2)).toMatchObject({ node: 'a', state: 'open' });
    expect(read(driver, 'a', 'synced')).toBe('after');
    expect(read(driver, 'a', canary).trimEnd()).toBe('before');
    const entry = logOf(driver, 'a').findLast(({ call }) => call === 'NodeStageVolume');
    expect(String(entry?.notes['fsck'])).toContain('recovering journal');
    expect(entry?.notes['generation']).toBe(2);
    expect(await publish(driver, 'a', 'unfenced')).toEqual(context);
  });

  test('a rebooted, fenced victim cannot reach the disk without a new attach', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    const context = await publish(driver, 'a', 'fenced');
    await stage(driver, 'a', context);
    await losePower(driver);
    await unpublish(driver, 'a');
    await driver.kill('a');
    await $`umount ${driver.stagingOf('a')}`.quiet();
    await driver.tool('release', '--node', 'a');
    await expect(stage(driver, 'a', context)).rejects.toMatchObject({
      code: status.FAILED_PRECONDITION,
    });
    expect(await driver.array.status(volume)).toMatchObject([{ generation: 1, state: 'closed' }]);
    await stage(driver, 'a', await publish(driver, 'a', 'fenced'));
    expect(await pathOf(driver, 2)).toMatchObject({ node: 'a', state: 'open' });
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
});
