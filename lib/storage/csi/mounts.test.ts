import { expect, test } from 'vitest';
import { deviceIn, isRaw, isSameDisk, parseMountInfo } from './devices.ts';

const raw = `540 29 0:6 /loop128 /k/staging/device rw shared:1 - devtmpfs devtmpfs rw
541 29 0:6 /loop129//deleted /k/publish/pod rw shared:1 - devtmpfs devtmpfs rw
542 29 0:6 / /dev rw shared:1 - devtmpfs devtmpfs rw
543 29 7:128 / /k/globalmount rw - ext4 /dev/loop128 rw
`;

test('a device that is mounted itself is raw, and all of them are of one file system', () => {
  const mounts = parseMountInfo(raw);
  expect(mounts.map(isRaw)).toEqual([true, true, false, false]);
  expect(mounts.map(deviceIn)).toEqual(['/dev/loop128', '/dev/loop129', undefined, '/dev/loop128']);
  const [first, second, dev, mounted] = mounts;
  if (!first || !second || !dev || !mounted) throw new TypeError('four mounts');
  expect([second, dev, mounted].map((other) => isSameDisk(first, other))).toEqual([
    false,
    false,
    true,
  ]);
});
