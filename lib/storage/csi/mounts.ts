/** Mounts as the kernel tells them, in this process's mount namespace or as another's file says. */
import { lstat, mkdir, readFile, rmdir, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { devicePath, loopMajor } from './loop-device.ts';
import { must } from './run-program.ts';

export interface MountEntry {
  readonly mountPoint: string;
  /** `major:minor` of the device. */
  readonly device: string;
  readonly fsType: string;
  /** The part of the file system that is mounted: `/` unless it is a bind mount. */
  readonly root: string;
  /** What the file system calls its source, e.g. `/dev/loop128`. */
  readonly source: string;
}

export const ownMounts = async (): Promise<MountEntry[]> =>
  parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8'));

/** The format is in proc_pid_mountinfo(5). */
export function parseMountInfo(text: string): MountEntry[] {
  const mounts: MountEntry[] = [];
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

/** The device itself is mounted there, and not a file system on it. */
export const isRaw = ({ fsType, root }: MountEntry): boolean =>
  fsType === 'devtmpfs' && rawLoop.test(root);
/** The kernel marks a device that is gone. */
const rawLoop = /^\/loop(\d+)(\/\/deleted)?$/;

/** The path's device that is mounted there, raw or not, e.g. `/dev/loop128`; undefined for other devices. */
export function deviceIn(mount: MountEntry): string | undefined {
  if (isRaw(mount)) return devicePath(Number(rawLoop.exec(mount.root)?.[1]));
  const [major, minor] = mount.device.split(':');
  return major === String(loopMajor) ? devicePath(Number(minor)) : undefined;
}

/** What is mounted right there: the uppermost where mounts are stacked. */
export const mountAt = async (path: string): Promise<MountEntry | undefined> =>
  (await ownMounts()).findLast(({ mountPoint }) => mountPoint === path);

/** True where both have the same disk: all raw devices are of one file system of the kernel's. */
export const isSameDisk = (one: MountEntry, other: MountEntry): boolean =>
  isRaw(one) || isRaw(other) ? deviceIn(one) === deviceIn(other) : one.device === other.device;

/** Where a raw device lies in a folder that stands for it. */
const rawIn = (folder: string): string => join(folder, 'device');

/** What is staged in the folder, as a file system or raw. */
export const stagedAt = async (folder: string): Promise<MountEntry | undefined> =>
  (await mountAt(folder)) ?? (await mountAt(rawIn(folder)));

export const stageDevice = (device: string, folder: string): Promise<void> =>
  bindDevice(device, rawIn(folder));

/** Makes a device, or what is staged of it, visible as a file of that path. */
export async function bindDevice(device: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, '', { flag: 'a' });
  await must('mount', '--bind', device, to);
}

/** Makes a mount visible at a second place. */
export async function bindMount(from: string, to: string, readOnly: boolean): Promise<void> {
  await mkdir(to, { recursive: true });
  await must('mount', '--bind', from, to);
  if (readOnly) await must('mount', '-o', 'remount,bind,ro', to);
}

/** Undoes a staging, of either kind. Idempotent. */
export async function cleanUpStaging(folder: string): Promise<void> {
  while ((await mountAt(folder)) !== undefined) await must('umount', folder);
  await cleanUpMountPoint(rawIn(folder));
  await cleanUpMountPoint(folder);
}

/** Unmounts all that is stacked there and removes the mount point, a folder or a file. Idempotent. */
export async function cleanUpMountPoint(path: string): Promise<void> {
  while ((await mountAt(path)) !== undefined) await must('umount', path);
  try {
    await ((await lstat(path)).isDirectory() ? rmdir(path) : unlink(path));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}
