import { expect, test } from 'vitest';
import { formatIn } from './devices.ts';

test.each([
  ['DEVNAME=/dev/loop1\nTYPE=ext4\n', 'ext4'],
  ['DEVNAME=/dev/loop1\nPTTYPE=dos\n', 'unknown data, probably partitions'],
  ['DEVNAME=/dev/loop1\nTYPE=ext4\nPTTYPE=dos\n', 'unknown data, probably partitions'],
  ['', ''],
])('blkid’s %j means %j', (output, format) => {
  expect(formatIn(output)).toBe(format);
});
