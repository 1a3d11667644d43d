/**
 * Lets go of the mounted file system, as far as a sidecar can: read-only, so that neither the kernel's
 * write-back nor a later unmount writes any more. Without that the clean unmount of a node that comes
 * back writes its old superblock and journal over the successor's.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The whole file system, for every mount of it. Rejects while a file is open for writing. */
export async function remount(folder: string, how: 'ro' | 'rw'): Promise<void> {
  await run('mount', ['-o', `remount,${how}`, folder]);
}
