/** What the lab does to the disk and sees of it: release, watch, copy, on real loop devices. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { $ } from 'zx';
import { lastLoop } from './csi-harness.ts';
import {
  createVolume,
  loopOf,
  newDriver,
  patience,
  publish,
  reason,
  stage,
  unpublish,
  unstage,
  volume,
  write,
  writtenTo,
} from './csi-steps.ts';

if (reason !== undefined) console.warn(`skipped: the lab on real loop devices ${reason}`);

describe.skipIf(reason !== undefined)('the lab', { timeout: 60_000 }, () => {
  test('release frees what nobody has mounted, and never what is not ours', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    const context = await publish(driver, 'a', 'unfenced');
    await stage(driver, 'a', context);
    const foreign = join(driver.root, 'foreign.img');
    await $`truncate -s 1M ${foreign} && losetup /dev/loop${lastLoop} ${foreign}`.quiet();
    try {
      const busy = await driver.tool('release', '--all');
      expect(busy).toEqual({ freed: [], busy: [`/dev/loop${loopOf(context)}`] });
      await $`umount ${driver.stagingOf('a')}`.quiet();
      const freed = await driver.tool('release', '--all');
      expect(freed).toEqual({ freed: [`/dev/loop${loopOf(context)}`], busy: [] });
      expect(existsSync(`/sys/block/loop${lastLoop}/loop`)).toBe(true);
    } finally {
      await $`losetup -d /dev/loop${lastLoop}`.quiet();
    }
  });

  test('the watch tells of mounts, bytes, cuts and calls as they happen', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    const a = { volume, node: 'a', generation: 1 };
    {
      await using watch = await driver.watch(['a', 'b']);
      const { lines } = watch;
      const seen = (type: string): object[] => lines.filter((line) => line.type === type);
      const context = await publish(driver, 'a', 'fenced');
      await stage(driver, 'a', context);
      await vi.waitFor(() => expect(seen('mounted')).toMatchObject([a]), patience);
      await write(driver, 'a', 'file', 'x'.repeat(100_000));
      await vi.waitFor(
        () => expect(seen('written').at(-1)).toHaveProperty('bytesWritten', writtenTo(context)),
        patience,
      );
      await unpublish(driver, 'a');
      await vi.waitFor(() => expect(seen('cut')).toMatchObject([a]), patience);
      expect(seen('unmounted')).toEqual([]);
      await unstage(driver, 'a');
      await vi.waitFor(() => expect(seen('unmounted')).toMatchObject([a]), patience);
      await stage(driver, 'b', await publish(driver, 'b', 'fenced'));
      await vi.waitFor(() => expect(seen('mounted').at(-1)).toMatchObject({ node: 'b' }), patience);
      await vi.waitFor(
        () =>
          expect(
            lines.flatMap((line) =>
              line.type === 'call' ? [`${line.entry.call} ${line.entry.node}`] : [],
            ),
          ).toEqual([
            'ControllerPublishVolume a',
            'NodeStageVolume a',
            'ControllerUnpublishVolume a',
            'NodeUnstageVolume a',
            'ControllerPublishVolume b',
            'NodeStageVolume b',
          ]),
        patience,
      );
      expect(seen('failure')).toEqual([]);
    }
  });

  test('a copy is of one moment: nobody wrote while it was made', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await stage(driver, 'a', await publish(driver, 'a', 'unfenced'));
    await write(driver, 'a', 'file', 'in the copy');
    const copied = await driver.tool('copy', '--volume', volume, '--label', 'first');
    expect(copied).toMatchObject({ path: join(driver.shared, 'copies', 'first.img') });
    // The file's name is still in the journal only; 1 means that it was replayed.
    const replay = $`e2fsck -y -E journal_only ${String(copied['path'])}`.quiet().nothrow();
    expect((await replay).exitCode).toBeLessThan(2);
    const seen = await $`debugfs -R ${'cat /file'} ${String(copied['path'])}`.quiet();
    expect(seen.stdout).toBe('in the copy');

    const busy = join(driver.stagingOf('a'), 'busy');
    driver.before('cp', `date +%N | dd of=${busy} conv=fsync 2>/dev/null`);
    await expect(driver.tool('copy', '--volume', volume, '--label', 'second')).rejects.toThrow(
      /COPY_DISTURBED/,
    );
    expect(existsSync(join(driver.shared, 'copies', 'second.img'))).toBe(false);
  });
});
