/**
 * Loop devices: bind, cut, count, free. The only file that makes them or changes them. A device is
 * named by its number; the numbers are leased per cluster, and devices belong to the kernel: they
 * outlive the containers that made them.
 */
import { constants } from 'node:fs';
import { access, open, readFile, stat } from 'node:fs/promises';
import { InfrastructureError } from '../errors.ts';
import { must, run } from './run.ts';

export const devicePath = (loop: number): string => `/dev/loop${loop}`;
const sysfs = (loop: number): string => `/sys/block/loop${loop}`;

/** All that stays readable of a cut device: one sector, which no file system can use. */
const cutSizeBytes = 512;
/** major(7), from the kernel's list of devices. */
export const loopMajor = 7;

/** From linux/loop.h. struct loop_info64 has 232 bytes; lo_sizelimit is the u64 at offset 32. */
const cutScript = `
  $b = "\\0" x 232;
  open F, "+<", $ARGV[0] or die "open: $!";
  ioctl(F, 0x4C05, $b) or die "LOOP_GET_STATUS64: $!";
  substr($b, 32, 8) = pack("Q<", ${cutSizeBytes});
  ioctl(F, 0x4C04, $b) or die "LOOP_SET_STATUS64: $!"`;
const removeScript = `
  open F, "+<", "/dev/loop-control" or die "open: $!";
  ioctl(F, 0x4C81, $ARGV[0] + 0) or die "LOOP_CTL_REMOVE: $!"`;

/**
 * A container's /dev is a copy made when it started: devices made later never appear in it. So
 * processes that work on loop devices begin by putting the kernel's own /dev there.
 */
export async function ensureKernelDevices(): Promise<void> {
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  if (
    mounts.split('\n').some((line) => line.split(' ').slice(1, 3).join(' ') === '/dev devtmpfs')
  ) {
    return;
  }
  await must('mount', '-t', 'devtmpfs', 'devtmpfs', '/dev');
}

/** True while a file is behind the device. */
export const isBound = (loop: number): Promise<boolean> =>
  access(`${sysfs(loop)}/loop`).then(
    () => true,
    () => false,
  );

/** True when the device serves this very file, whatever path it has in this mount namespace. */
export async function serves(loop: number, file: string): Promise<boolean> {
  if (!(await isBound(loop))) return false;
  const behind = await run('losetup', '-nO', 'BACK-INO,BACK-MAJ:MIN', devicePath(loop));
  const [inode, device] = behind.stdout.trim().split(/\s+/);
  const { ino, dev } = await stat(file, { bigint: true });
  return behind.exitCode === 0 && inode === String(ino) && device === deviceNumber(dev);
}

/** `major:minor` as the kernel packs them into st_dev. */
function deviceNumber(dev: bigint): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & 0xfffff000n);
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xffffff00n);
  return `${major}:${minor}`;
}

/**
 * Puts the file behind the device, with direct I/O: each device over one file then has a cache of
 * its own, as machines have. Counters begin at 0, since an unbound device of that number is removed.
 */
export async function bind(loop: number, file: string): Promise<void> {
  if (await isBound(loop)) {
    throw new InfrastructureError('LOOP_BUSY', `${devicePath(loop)} serves something else`, {
      hint: 'Its number is leased to this cluster: free it if nobody uses it.',
      command: `losetup --list ${devicePath(loop)}`,
    });
  }
  await remove(loop);
  await must('losetup', '--direct-io=on', devicePath(loop), file);
}

/**
 * Cuts the device: each later read and write fails, for whoever holds it, and a later unmount is
 * clean. The device is cut for good; binding its number anew makes another one.
 */
export async function cutDevice(loop: number): Promise<void> {
  await must('perl', '-e', cutScript, devicePath(loop));
  if (!(await isCut(loop))) {
    throw new InfrastructureError('NOT_CUT', `${devicePath(loop)} was not cut`, {
      hint: 'Without a working cut no run on this machine can be believed.',
      command: `cat ${sysfs(loop)}/loop/sizelimit ${sysfs(loop)}/size`,
    });
  }
}

/** As the kernel says, not as this process remembers. */
export const isCut = async (loop: number): Promise<boolean> =>
  (await sysfsNumber(loop, 'loop/sizelimit')) === cutSizeBytes;

/** Bytes that reached the device since it was bound; undefined where it is not bound. */
export async function bytesWritten(loop: number): Promise<number | undefined> {
  if (!(await isBound(loop))) return undefined;
  const text = await readFile(`${sysfs(loop)}/stat`, 'utf8').catch(() => undefined);
  // The 7th field of /sys/block/*/stat counts sectors written, 512 bytes each.
  const sectors = text?.trim().split(/\s+/)[6];
  return sectors === undefined ? undefined : Number(sectors) * 512;
}

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
  const { exitCode, output } = await run('losetup', '-d', devicePath(loop));
  if (exitCode !== 0 && (await isBound(loop))) {
    throw new InfrastructureError(
      'LOOP_STUCK',
      `${devicePath(loop)} could not be freed: ${output}`,
      {
        command: `losetup -d ${devicePath(loop)}`,
      },
    );
  }
}

/** Takes an unbound device away, counters included. Idempotent. */
export async function remove(loop: number): Promise<void> {
  const exists = await access(sysfs(loop)).then(
    () => true,
    () => false,
  );
  if (exists) await must('perl', '-e', removeScript, String(loop));
}

async function sysfsNumber(loop: number, name: string): Promise<number | undefined> {
  const text = await readFile(`${sysfs(loop)}/${name}`, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Number(text);
}
