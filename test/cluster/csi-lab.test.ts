/** What the lab does to the disk and sees of it: release, watch, copy, export, on a real array. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { lastLoop } from './csi-harness.ts';
import {
  createVolume,
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

if (reason !== undefined) console.warn(`skipped: the lab on a real array ${reason}`);

describe.skipIf(reason !== undefined)('the lab', { timeout: 180_000 }, () => {
  test('release frees what nobody has mounted, and never what is not ours', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await stage(driver, 'a', await publish(driver, 'a', 'unfenced'));
    const { device } = await pathOf(driver, 1);
    const foreign = join(driver.root, 'foreign.img');
    await $`truncate -s 1M ${foreign} && losetup /dev/loop${lastLoop} ${foreign}`.quiet();
    try {
      const busy = await driver.tool('release', '--all');
      expect(busy).toEqual({ freed: [], busy: [device] });
      await $`umount ${driver.stagingOf('a')}`.quiet();
      const freed = await driver.tool('release', '--all');
      expect(freed).toEqual({ freed: [device], busy: [] });
      expect(existsSync(`/sys/block/loop${lastLoop}/loop`)).toBe(true);
    } finally {
      await $`losetup -d /dev/loop${lastLoop}`.quiet();
    }
  });

  test('release frees what a dead array left', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await stage(driver, 'a', await publish(driver, 'a', 'unfenced'));
    const { device, loop } = await pathOf(driver, 1);
    await driver.killArray();
    await expect(write(driver, 'a', 'late', 'never')).rejects.toThrow(/error|EIO|Read-only/i);
    await $`umount ${driver.stagingOf('a')}`.quiet();
    expect(existsSync(`/sys/block/loop${loop}/loop`)).toBe(true);
    expect(await driver.tool('release', '--all')).toEqual({ freed: [device], busy: [] });
    expect(existsSync(`/sys/block/loop${loop}/loop`)).toBe(false);
  });

  test('a severed node waits, and goes on where it stood once it is restored', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await stage(driver, 'a', await publish(driver, 'a', 'unfenced'));
    await driver.tool('sever', '--node', 'a', '--how', 'stalls');
    let done = false;
    const writing = write(driver, 'a', 'waits', 'for the link').then(() => (done = true));
    await vi.waitFor(
      async () => expect((await pathOf(driver, 1)).held).toBeGreaterThan(0),
      patience,
    );
    expect(done).toBe(false);
    const restored = await driver.tool('restore', '--node', 'a');
    expect(restored).toMatchObject({ link: 'pass', devices: [{ generation: 1, cut: false }] });
    await writing;
    await driver.tool('sever', '--node', 'a', '--how', 'errors');
    await expect(write(driver, 'a', 'late', 'never')).rejects.toThrow(/error|EIO|Read-only/i);
    await driver.tool('restore', '--node', 'a');
  });

  test('an operator’s fence cuts one node off whatever the disk’s own mode, and stays', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await stage(driver, 'a', await publish(driver, 'a', 'unfenced'));
    await write(driver, 'a', 'before', 'the fence');
    expect(await driver.tool('fence', '--node', 'b')).toEqual({ node: 'b', cut: [] });
    await write(driver, 'a', 'on', 'another node was meant');
    const fenced = { node: 'a', cut: [{ generation: 1 }] };
    expect(await driver.tool('fence', '--node', 'a')).toMatchObject(fenced);
    expect(await driver.tool('fence', '--node', 'a')).toMatchObject(fenced);
    await expect(write(driver, 'a', 'late', 'never')).rejects.toThrow(/error|EIO|Read-only/i);
    await unpublish(driver, 'a');
    await stage(driver, 'b', await publish(driver, 'b', 'unfenced'));
    expect(read(driver, 'b', 'before')).toBe('the fence');
    await unstage(driver, 'a');
  });

  test('a volume whose path holds requests can be removed, one that works cannot', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await stage(driver, 'a', await publish(driver, 'a', 'unfenced'));
    const remove = (): Promise<unknown> => driver.tool('remove-volume', '--volume', volume);
    await expect(remove()).rejects.toThrow(/VOLUME_IN_USE/);
    await driver.tool('sever', '--node', 'a', '--how', 'stalls');
    const writing = expect(write(driver, 'a', 'held', 'never')).rejects.toThrow(/error|EIO/i);
    await vi.waitFor(
      async () => expect((await pathOf(driver, 1)).held).toBeGreaterThan(0),
      patience,
    );
    await remove();
    await writing;
    expect(await driver.tool('status')).toEqual({ volumes: [] });
    await $`umount ${driver.stagingOf('a')}`.quiet();
    await vi.waitFor(
      async () => expect(await pathOf(driver, 1)).toHaveProperty('state', 'closed'),
      patience,
    );
    expect(await remove()).toEqual({ volume, freed: [] });
  });

  test('what nodes share as files is copied as files', async () => {
    await using driver = newDriver();
    await createVolume(driver, '--mode', 'shared-file');
    const files = join(driver.shared, 'volumes', volume, 'files');
    writeFileSync(join(files, 'file'), 'in the copy');
    const copied = await driver.tool('copy', '--volume', volume, '--label', 'first');
    expect(copied).toMatchObject({ path: join(driver.shared, 'copies', 'first.files'), volume });
    expect(readFileSync(join(String(copied['path']), 'file'), 'utf8')).toBe('in the copy');
  });
});
