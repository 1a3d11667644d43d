import { expect, test } from 'vitest';
import { EvidenceError } from '../../core/errors.ts';
import { neededRoom, whyNotMounted } from './container-recovery.ts';

const mount = (exitCode: number, output: string): Parameters<typeof whyNotMounted>[0] => ({
  command: 'mount -o loop=/dev/loop6144 1.img /mnt',
  exitCode,
  output,
  durationMs: 1,
});

test('a file system that cannot be mounted is evidence', () => {
  const output = "mount: /mnt: can't read superblock on /dev/loop6144.";
  expect(whyNotMounted(mount(32, output))).toBe(output);
  expect(whyNotMounted(mount(0, ''))).toBeUndefined();
});

test('a machine without a loop device to give accuses no image', () => {
  const output = 'mount: /mnt: failed to setup loop device for 1.img.';
  expect(() => whyNotMounted(mount(32, output))).toThrow(EvidenceError);
});

test('a recovery that ran out of room is no evidence', () => {
  expect(() => neededRoom({ bavail: 10, bsize: 4096 })).toThrow('only 40960 bytes are free');
  expect(() => neededRoom({ bavail: 2 ** 20, bsize: 4096 })).not.toThrow();
});
