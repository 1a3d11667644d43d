/**
 * Loop devices as the kernel has them. The array makes them and serves what is behind them; here
 * they are looked at, and leftovers of a dead array are freed. A device is named by its number; the
 * numbers are leased per cluster, and devices belong to the kernel: they outlive all containers.
 */
import { constants, existsSync } from 'node:fs';
import { access, open, readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { InfrastructureError, UsageError } from '../../core/index.ts';
import { must, runProgram } from './run-program.ts';

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
export const loopMajor = 7;

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
export const volumeIn = (backingFile: string): string | undefined =>
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
