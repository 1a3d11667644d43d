/** Every mode of disk, file system and access mode on a real array, without Kubernetes. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, test, vi } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { type Driver, forManyNodes, forOnePod, xfs } from './csi-harness.ts';
import {
  createVolume,
  logOf,
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

if (reason !== undefined) console.warn(`skipped: the modes of disk on a real array ${reason}`);

const refused = /error|EIO|Read-only/i;
const notesOf = (driver: Driver, node: string, call: string): unknown =>
  logOf(driver, node).findLast((entry) => entry.call === call)?.notes;

describe.skipIf(reason !== undefined)('a disk', { timeout: 180_000 }, () => {
  test('ack-early: both nodes write, until the array cuts the first', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    const attributes = { cutAfterMs: '4000' };
    await stage(driver, 'a', await publish(driver, 'a', 'ack-early', { attributes }));
    await unpublish(driver, 'a');
    await write(driver, 'a', 'late', 'after the answer');
    expect(notesOf(driver, 'controller', 'ControllerUnpublishVolume')).toMatchObject({
      detachMode: 'ack-early',
      toBeCut: [1],
      cut: [],
    });
    await driver.kill('controller');
    await vi.waitFor(
      async () => expect(await pathOf(driver, 1)).toHaveProperty('state', 'cut'),
      patience,
    );
    await expect(write(driver, 'a', 'later', 'never')).rejects.toThrow(refused);
    await stage(driver, 'b', await publish(driver, 'b', 'ack-early', { attributes }));
    expect(read(driver, 'b', 'late')).toBe('after the answer');
  });

  test('fence-if-out-of-service: a detach fails where the API server does not answer', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await stage(driver, 'a', await publish(driver, 'a', 'fence-if-out-of-service'));
    await expect(unpublish(driver, 'a')).rejects.toMatchObject({ code: status.UNAVAILABLE });
    await write(driver, 'a', 'on', 'it is still attached');
    expect(await pathOf(driver, 1)).toHaveProperty('state', 'open');
  });

  test('pending-while-busy: a detach and an attach elsewhere wait for the unmount', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    const asked = { capability: forManyNodes };
    await stage(driver, 'a', await publish(driver, 'a', 'pending-while-busy', asked));
    const busy = { code: status.FAILED_PRECONDITION };
    await expect(unpublish(driver, 'a')).rejects.toMatchObject(busy);
    await expect(publish(driver, 'b', 'pending-while-busy', asked)).rejects.toMatchObject(busy);
    await write(driver, 'a', 'on', 'it is still attached');
    // A dead node's processes take its mounts with them; here the mount is the machine's own.
    await driver.kill('a');
    await $`umount ${driver.stagingOf('a')}`.quiet();
    await unpublish(driver, 'a');
    await stage(driver, 'b', await publish(driver, 'b', 'pending-while-busy', asked));
    expect(read(driver, 'b', 'on')).toBe('it is still attached');
    expect(await pathOf(driver, 1)).toHaveProperty('cutNs');
  });

  test('exclusive: the next node waits until nobody watches the image', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await stage(driver, 'a', await publish(driver, 'a', 'exclusive'));
    await unpublish(driver, 'a');
    const context = await publish(driver, 'b', 'exclusive');
    const watched = expect(stage(driver, 'b', context)).rejects;
    await watched.toMatchObject({
      code: status.INTERNAL,
      details: expect.stringContaining('used'),
    });
    expect(notesOf(driver, 'b', 'NodeStageVolume')).toMatchObject({ watchers: ['a/1'] });
    await unstage(driver, 'a');
    await stage(driver, 'b', context);
    expect(notesOf(driver, 'b', 'NodeStageVolume')).toMatchObject({ watchers: [] });
  });

  test('reservation: whoever stages next takes the disk, and what is under way is aborted', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await stage(driver, 'a', await publish(driver, 'a', 'reservation'));
    await write(driver, 'a', 'synced', 'acknowledged');
    await unpublish(driver, 'a');
    await write(driver, 'a', 'late', 'still let');
    await stage(driver, 'b', await publish(driver, 'b', 'reservation'));
    await expect(write(driver, 'a', 'later', 'never')).rejects.toThrow(refused);
    expect(read(driver, 'b', 'late')).toBe('still let');
    expect(notesOf(driver, 'b', 'NodeStageVolume')).toMatchObject({
      preempted: [{ generation: 1 }],
    });
  });

  test('shared-file: both nodes have the same files and the same locks', async () => {
    await using driver = newDriver();
    await createVolume(driver, '--mode', 'shared-file');
    for (const node of ['a', 'b']) await publishFiles(driver, node, 'shared');
    await $`printf shared > ${join(driver.targetOf('a'), 'file')}`;
    expect(readFileSync(join(driver.targetOf('b'), 'file'), 'utf8')).toBe('shared');
    expect(await bothLock(driver)).toBe(false);
    for (const node of ['a', 'b']) await unpublishFiles(driver, node);
    expect(existsSync(driver.targetOf('a'))).toBe(false);
  });

  test('shared-file: with locks of its own each node believes that it is alone', async () => {
    await using driver = newDriver();
    await createVolume(driver, '--mode', 'shared-file');
    for (const node of ['a', 'b']) await publishFiles(driver, node, 'local');
    await $`printf shared > ${join(driver.targetOf('a'), 'file')}`;
    expect(readFileSync(join(driver.targetOf('b'), 'file'), 'utf8')).toBe('shared');
    expect(await bothLock(driver)).toBe(true);
    for (const node of ['a', 'b']) await unpublishFiles(driver, node);
  });

  test('XFS: no table of UUIDs keeps a second node out, and both write', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    await stage(driver, 'a', await publish(driver, 'a', 'unfenced', { capability: xfs }), xfs);
    await write(driver, 'a', 'before', 'both see this');
    await unpublish(driver, 'a');
    await stage(driver, 'b', await publish(driver, 'b', 'unfenced', { capability: xfs }), xfs);
    expect(read(driver, 'b', 'before')).toBe('both see this');
    await write(driver, 'b', 'from-b', 'only b sees this');
    await write(driver, 'a', 'from-a', 'only a sees this');
    expect(existsSync(join(driver.stagingOf('b'), 'from-a'))).toBe(false);
    expect(notesOf(driver, 'b', 'NodeStageVolume')).toMatchObject({ fsckExitCode: 0 });
  });

  test('ext4 with multiple mount protection: a second mount is refused while the first lives', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    const attributes = { mkfs: 'mmp' };
    await stage(driver, 'a', await publish(driver, 'a', 'unfenced', { attributes }));
    await unpublish(driver, 'a');
    const second = stage(driver, 'b', await publish(driver, 'b', 'unfenced', { attributes }));
    await expect(second).rejects.toThrow(/mount/);
    expect(await pathOf(driver, 2)).toHaveProperty('state', 'closed');
    await write(driver, 'a', 'on', 'the first is alone');
  });

  test('declared for one pod: a second one on the node is refused', async () => {
    await using driver = newDriver();
    await createVolume(driver);
    const asked = { capability: forOnePod };
    await stage(driver, 'a', await publish(driver, 'a', 'fenced', asked), forOnePod);
    const request = (pod: string): object => ({
      volumeId: volume,
      stagingTargetPath: driver.stagingOf('a'),
      targetPath: join(driver.root, 'a', pod),
      volumeCapability: forOnePod,
    });
    await driver.call('a', 'nodePublishVolume', request('first'));
    await driver.call('a', 'nodePublishVolume', request('first'));
    const second = driver.call('a', 'nodePublishVolume', request('second'));
    await expect(second).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
  });
});

async function publishFiles(driver: Driver, node: string, fileLocks: string): Promise<void> {
  await driver.start(node);
  await driver.callSocket(driver.filesSocketOf(node), 'Node', 'nodePublishVolume', {
    volumeId: volume,
    targetPath: driver.targetOf(node),
    volumeCapability: forManyNodes,
    volumeContext: { detachMode: 'shared-file', fileLocks },
  });
}

const unpublishFiles = (driver: Driver, node: string): Promise<unknown> =>
  driver.callSocket(driver.filesSocketOf(node), 'Node', 'nodeUnpublishVolume', {
    volumeId: volume,
    targetPath: driver.targetOf(node),
  });

/** Whether b gets the lock that a holds: both lock the file as InnoDB does, by fcntl. */
async function bothLock(driver: Driver): Promise<boolean> {
  const [first, second] = ['a', 'b'].map((node) => join(driver.targetOf(node), 'file'));
  // F_SETLK (6) with F_WRLCK (1) from the beginning to the end; struct flock as on x86-64 and arm64.
  const lock = `open F, "+<", shift or die; $l = pack("ssx4qqix4", 1, 0, 0, 0, 0); fcntl(F, 6, $l) or exit 7;`;
  const script = `${lock} exit(system(@ARGV) >> 8)`;
  const nested = $`perl -e ${script} ${first} perl -e ${lock} ${second}`.quiet().nothrow();
  const { exitCode, stderr } = await nested;
  if (exitCode !== 0 && exitCode !== 7) throw new TypeError(`locking failed: ${stderr}`);
  return exitCode === 0;
}
