import { expect, test } from 'vitest';
import { deviceIn, isRaw, isSameDisk, parseMountInfo } from './mounts.ts';

const text = `22 1 0:21 / /proc rw,relatime shared:13 - proc proc rw
530 29 7:128 / /var/lib/kubelet/a\\040b/globalmount rw,relatime shared:1 master:3 - ext4 /dev/loop128 rw
531 29 259:1 / /data rw,relatime - ext4 /dev/nvme0n1p1 rw
`;

test('mount points, devices and file systems, with or without optional fields', () => {
  expect(parseMountInfo(text)).toEqual([
    { device: '0:21', mountPoint: '/proc', fsType: 'proc', root: '/', source: 'proc' },
    {
      device: '7:128',
      mountPoint: '/var/lib/kubelet/a b/globalmount',
      fsType: 'ext4',
      root: '/',
      source: '/dev/loop128',
    },
    {
      device: '259:1',
      mountPoint: '/data',
      fsType: 'ext4',
      root: '/',
      source: '/dev/nvme0n1p1',
    },
  ]);
});

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

test('only loop devices are a path’s', () => {
  expect(parseMountInfo(text).map(deviceIn)).toEqual([undefined, '/dev/loop128', undefined]);
});
