/** Loop devices, file systems and mounts of this machine, by its own tools. */
import { execFile } from 'node:child_process';
import { constants, existsSync } from 'node:fs';
import {
  access,
  open,
  readdir,
  readFile,
  lstat,
  mkdir,
  rmdir,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { dirname, join } from 'node:path';
import { InfrastructureError, UsageError } from '../../core/index.ts';

interface ProgramResult {
  readonly exitCode: number;
  /** stdout and stderr together, trimmed. */
  readonly output: string;
  readonly stdout: string;
}

/** Resolves with any exit code; rejects where the program is missing or was killed. */
export const runProgram = (program: string, ...args: readonly string[]): Promise<ProgramResult> =>
  new Promise((resolve, reject) => {
    execFile(program, args, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') {
        reject(failed(program, args, error.message, error));
        return;
      }
      const exitCode = typeof error?.code === 'number' ? error.code : 0;
      resolve({ exitCode, stdout, output: `${stdout}${stderr}`.trim() });
    });
  });

/** Runs it as `run`, and rejects with any exit code but 0. Resolves to stdout. */
export async function must(program: string, ...args: readonly string[]): Promise<string> {
  const { exitCode, output, stdout } = await runProgram(program, ...args);
  if (exitCode !== 0) throw failed(program, args, `exit code ${exitCode}: ${output}`);
  return stdout;
}

function failed(
  program: string,
  args: readonly string[],
  why: string,
  cause?: unknown,
): InfrastructureError {
  const command = [program, ...args].map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word),
  );
  return new InfrastructureError('COMMAND_FAILED', `${program} failed: ${why}`, {
    command: command.join(' '),
    cause,
  });
}

/*
 * Loop devices as the kernel has them. The array makes them and serves what is behind them; here
 * they are looked at, and leftovers of a dead array are freed. A device is named by its number; the
 * numbers are leased per cluster, and devices belong to the kernel: they outlive all containers.
 */

/** The numbers that are leased to one cluster. */
export interface LoopRange {
  readonly first: number;
  readonly last: number;
}

/** Reads `128-191`. */
export function parseLoopRange(text: string): LoopRange {
  const match = /^(\d+)-(\d+)$/.exec(text);
  const range = { first: Number(match?.[1]), last: Number(match?.[2]) };
  if (match === null || range.first > range.last) {
    const asked = JSON.stringify(text);
    throw new UsageError('BAD_LOOP_RANGE', `${asked} is not a range of loop numbers`, {
      hint: 'Give the first and the last number, like 128-191.',
    });
  }
  return range;
}

export const numbersIn = ({ first, last }: LoopRange): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

export const devicePath = (loop: number): string => `/dev/loop${loop}`;
const sysfs = (loop: number): string => `/sys/block/loop${loop}`;

/** major(7), from the kernel's list of devices. */
const loopMajor = 7;

/** Probes of udev and blkid take moments. */
const removeMs = 3000;

/** From linux/loop.h. */
const removeScript = `
  open F, "+<", "/dev/loop-control" or die "open: $!";
  ioctl(F, 0x4C81, $ARGV[0] + 0) or die "LOOP_CTL_REMOVE: $!"`;

/** Per device: its number, and what it has as its file where that is a device (`lo_rdevice`). */
const behindScript = `
  for my $loop (@ARGV) {
    open F, "<", "/dev/loop$loop" or next;
    my $info = "\\0" x 232;
    ioctl(F, 0x4C05, $info) or next;
    print $loop, " ", unpack("Q<", substr($info, 16, 8)), "\n";
  }`;

/**
 * A container's /dev is a copy made when it started: devices made later never appear in it. So
 * processes that work on loop devices begin by putting the kernel's own /dev there.
 */
export async function ensureKernelDevices(): Promise<void> {
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  if (/^\S+ \/dev devtmpfs /m.test(mounts)) return;
  await must('mount', '-t', 'devtmpfs', 'devtmpfs', '/dev');
}

/** True while a file is behind the device. */
export const isBound = (loop: number): Promise<boolean> =>
  access(`${sysfs(loop)}/loop`).then(
    () => true,
    () => false,
  );

/** Path as the kernel names it: a deleted file has a mark behind its name. Undefined where there is none. */
export async function fileBehind(loop: number): Promise<string | undefined> {
  const path = await readFile(`${sysfs(loop)}/loop/backing_file`, 'utf8').catch(() => undefined);
  return path?.trim();
}

/** The volume whose path the device serves, by the file that the array puts behind its devices. */
export const volumeBehind = async (loop: number): Promise<string | undefined> =>
  volumeIn((await fileBehind(loop)) ?? '');

/** The array calls them `forcedetach.<volume>.<generation>`. */
const volumeIn = (backingFile: string): string | undefined =>
  /\/forcedetach\.([^/]+)\.\d+( \(deleted\))?$/.exec(backingFile)?.[1];

/** True while something in any mount namespace has the device mounted or opened for itself. */
export async function isClaimed(loop: number): Promise<boolean> {
  try {
    await (await open(devicePath(loop), constants.O_RDONLY | constants.O_EXCL)).close();
    return false;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EBUSY') return true;
    throw error;
  }
}

/** Takes the file away; where the device is still mounted, at its last unmount. Idempotent. */
export async function unbind(loop: number): Promise<void> {
  if (!(await isBound(loop))) return;
  const { exitCode, output } = await runProgram('losetup', '-d', devicePath(loop));
  if (exitCode === 0 || !(await isBound(loop))) return;
  const device = devicePath(loop);
  throw new InfrastructureError('LOOP_STUCK', `${device} could not be freed: ${output}`, {
    command: `losetup -d ${device}`,
  });
}

/**
 * Takes away those that lie over the given ones: kubelet puts one over each raw volume that a pod has,
 * and where it dies with its node nobody else does. Idempotent.
 */
export async function unbindOver(loops: readonly number[]): Promise<void> {
  const names = await readdir('/sys/block').catch(() => []);
  const foreign: number[] = [];
  for (const name of names) {
    const loop = Number(/^loop(\d+)$/.exec(name)?.[1]);
    if (Number.isNaN(loop) || !(await isBound(loop))) continue;
    if ((await volumeBehind(loop)) === undefined) foreign.push(loop);
  }
  if (foreign.length === 0) return;
  const lines = await must('perl', '-e', behindScript, ...foreign.map(String));
  for (const [over, device] of lines.split('\n').map((line) => line.split(' ')))
    if (device !== undefined && loops.includes(loopOfDevice(BigInt(device))))
      await unbind(Number(over));
}

/** The kernel's own form: the minor number lies on both sides of the major one. -1 for other devices. */
export function loopOfDevice(device: bigint): number {
  const isLoop = ((device >> 8n) & 0xfffn) === BigInt(loopMajor);
  return isLoop ? Number((device & 0xffn) | ((device >> 12n) & 0xfff00n)) : -1;
}

/**
 * Takes an unbound device away, counters included. Whoever looks at it just now has it open: that is waited
 * for. Idempotent.
 */
export async function removeLoop(loop: number): Promise<void> {
  for (const endMs = performance.now() + removeMs; existsSync(sysfs(loop)); await sleep(100)) {
    const { exitCode, output } = await runProgram('perl', '-e', removeScript, String(loop));
    if (exitCode === 0) return;
    if (performance.now() < endMs) continue;
    const device = devicePath(loop);
    const behind = (await fileBehind(loop)) ?? 'nothing';
    throw new InfrastructureError(
      'LOOP_STUCK',
      `${device} with ${behind} behind it stays: ${output}`,
      { command: 'losetup --list' },
    );
  }
}

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

/*
 * Formats, checks and mounts a device as Kubernetes' own mount code does: SafeFormatAndMount in
 * k8s.io/mount-utils (mount_linux.go). What it does to a disk that another node still writes is a
 * good part of what the experiments measure, so nothing here is more careful than the original.
 */

export interface Mounted {
  /** What blkid called the device before; empty where it found nothing. */
  readonly formatBefore: string;
  /** True where a blank disk was formatted: on a used volume, a finding. */
  readonly formatted: boolean;
  /** fsck's exit code and words; absent where it did not run. */
  readonly fsckExitCode?: number;
  readonly fsck?: string;
}

interface MountRequest {
  readonly device: string;
  readonly mountPoint: string;
  readonly fsType: 'ext4' | 'xfs';
  /** ext4 that notes in the file system who has it mounted, and refuses a second one. */
  readonly multipleMountProtection: boolean;
  readonly options: readonly string[];
}

/** From fsck(8): errors were left uncorrected. Only this code keeps the original from mounting. */
const fsckUncorrected = 4;
/** From blkid(8): the tokens were not found. */
const blkidNothingFound = 2;

export async function formatAndMount(request: MountRequest): Promise<Mounted> {
  const { device, fsType } = request;
  const options = [...request.options, ...ownOptions[fsType]];
  const readOnly = options.includes('ro');
  const formatBefore = await formatOf(device);
  if (formatBefore === '' && readOnly) {
    throw new InfrastructureError('UNFORMATTED', `${device} is blank and asked for read-only`);
  }
  if (formatBefore === '') await must(`mkfs.${fsType}`, ...mkfsArgs(request));
  const checked = formatBefore === '' || readOnly ? {} : await check(device);
  const flags = [...options, 'defaults'].join(',');
  await must('mount', ...['-t', fsType, '-o', flags, device, request.mountPoint]);
  return { formatBefore, formatted: formatBefore === '', ...checked };
}

/**
 * XFS refuses a second file system of the same UUID, by a table of the kernel that machines do not
 * share: here it would keep two nodes apart that nothing keeps apart in a real cluster.
 */
const ownOptions = { ext4: [], xfs: ['nouuid'] } as const;

function mkfsArgs({ device, fsType, multipleMountProtection }: MountRequest): string[] {
  if (fsType === 'xfs') return ['-f', device];
  return ['-F', '-m0', ...(multipleMountProtection ? ['-O', 'mmp'] : []), device];
}

async function formatOf(device: string): Promise<string> {
  const args = ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', device];
  const { exitCode, output, stdout } = await runProgram('blkid', ...args);
  if (exitCode === blkidNothingFound) return '';
  if (exitCode !== 0) {
    throw new InfrastructureError('FORMAT_UNKNOWN', `blkid could not read ${device}: ${output}`, {
      command: ['blkid', ...args].join(' '),
    });
  }
  return formatIn(stdout);
}

/** A partition table counts as a format, so that it is never overwritten. */
export function formatIn(blkidOutput: string): string {
  const found = new Map<string, string>();
  for (const line of blkidOutput.split('\n')) {
    const [name, value] = line.split('=');
    if (name !== undefined && value !== undefined) found.set(name, value);
  }
  return found.has('PTTYPE') ? 'unknown data, probably partitions' : (found.get('TYPE') ?? '');
}

async function check(device: string): Promise<{ fsckExitCode: number; fsck: string }> {
  const { exitCode, output } = await runProgram('fsck', '-a', device);
  if (exitCode === fsckUncorrected) {
    throw new InfrastructureError(
      'FSCK_REFUSED',
      `fsck found errors on ${device} but could not correct them: ${output}`,
    );
  }
  // 1 means corrected; above 4 the original only logs, and so does the call log.
  return { fsckExitCode: exitCode, fsck: output };
}
