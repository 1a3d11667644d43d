/** Mounts as the kernel tells them, in this process's mount namespace or as another's file says. */
import { mkdir, readFile, rmdir } from 'node:fs/promises';
import { loopMajor } from './loop-device.ts';
import { must } from './run.ts';

export interface Mount {
  readonly mountPoint: string;
  /** `major:minor` of the device. */
  readonly device: string;
  readonly fsType: string;
  /** The part of the file system that is mounted: `/` unless it is a bind mount. */
  readonly root: string;
  /** What the file system calls its source, e.g. `/dev/loop128`. */
  readonly source: string;
}

export async function ownMounts(): Promise<Mount[]> {
  return parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8'));
}

/** The format is in proc_pid_mountinfo(5). */
export function parseMountInfo(text: string): Mount[] {
  const mounts: Mount[] = [];
  for (const line of text.split('\n')) {
    const words = line.split(' ');
    const [, , device, root, mountPoint] = words;
    const [fsType, source] = words.slice(words.indexOf('-', 6) + 1);
    if (device === undefined || root === undefined || mountPoint === undefined) continue;
    if (fsType === undefined || source === undefined) continue;
    const paths = { mountPoint: unescape(mountPoint), root: unescape(root) };
    mounts.push({ device, fsType, source: unescape(source), ...paths });
  }
  return mounts;
}

/** The kernel writes space, tab, newline and backslash as octal escapes. */
const unescape = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );

/** Number of the loop device that is mounted there, undefined for other devices. */
export function loopOf({ device }: Mount): number | undefined {
  const [major, minor] = device.split(':');
  return major === String(loopMajor) && minor !== undefined ? Number(minor) : undefined;
}

/** What is mounted right there: the uppermost where mounts are stacked. */
export async function mountAt(path: string): Promise<Mount | undefined> {
  return (await ownMounts()).findLast(({ mountPoint }) => mountPoint === path);
}

/** Makes a mount visible at a second place. */
export async function bindMount(from: string, to: string, readOnly: boolean): Promise<void> {
  await mkdir(to, { recursive: true });
  await must('mount', '--bind', from, to);
  if (readOnly) await must('mount', '-o', 'remount,bind,ro', to);
}

/** Unmounts all that is stacked there and removes the mount point. Idempotent. */
export async function cleanUpMountPoint(path: string): Promise<void> {
  while ((await mountAt(path)) !== undefined) await must('umount', path);
  await rmdir(path).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  });
}
