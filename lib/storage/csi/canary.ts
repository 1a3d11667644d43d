/**
 * Crash canaries: two files beside the database's own on the volume. Right before a crash both are
 * overwritten and only one is synced, so a crash that is real leaves the one and takes the other.
 *
 * The one that is not synced is written at the cut itself: whatever calls sync(2) anywhere on the
 * host writes every file system back, and kubelet and umount do so several times a minute.
 */
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InfrastructureError } from '../../core/index.ts';
import { deviceIn, parseMountInfo } from './devices.ts';

/** On the volume; the database's data directory is another one. */
export const canaryFolder = 'canary';
export const unsyncedCanary = 'unsynced';

/** Both files fill one block: a grown file's data would be written with the other's fsync. */
const blockBytes = 4096;

/** Newlines behind the content. */
const blockOf = (content: string): Buffer =>
  Buffer.alloc(blockBytes, '\n').fill(content, 0, Buffer.byteLength(content));

/** A canary's content without its padding. */
export const canaryContentOf = (file: string): string => file.trimEnd();

/**
 * Overwrites it through the mount that the node has of the device, and syncs nothing. `pid` is any
 * process of the node, as this process's /proc numbers it.
 */
export async function writeUnsyncedCanary(
  pid: number,
  device: string,
  content: string,
): Promise<void> {
  const mounts = parseMountInfo(await readFile(`/proc/${pid}/mountinfo`, 'utf8'));
  const mount = mounts.find(
    (each) => deviceIn(each) === device && each.mountPoint.endsWith('/globalmount'),
  );
  if (mount === undefined) {
    throw new InfrastructureError('NOT_MOUNTED', `process ${pid} sees no mount of ${device}`, {
      command: `grep ' ${device} ' /proc/${pid}/mountinfo`,
    });
  }
  const file = join(`/proc/${pid}/root`, mount.mountPoint, canaryFolder, unsyncedCanary);
  await using canary = await open(file, 'r+');
  await canary.write(blockOf(content), 0, blockBytes, 0);
}
