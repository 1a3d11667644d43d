import { expect, test } from 'vitest';
import { able, type Disk } from './port.ts';

const plain = { copy: () => Promise.reject(new Error('not here')) } satisfies Disk;

test('a verb that a disk has is its own, one that it lacks is an error by name', async () => {
  const proof = { verified: true, evidence: 'cut' };
  const disk: Disk = { ...plain, fence: () => Promise.resolve(proof) };
  expect(await able(disk, 'fence')('node')).toBe(proof);
  expect(() => able(plain, 'sever')).toThrow(
    expect.objectContaining({ code: 'DISK_CANNOT', message: 'this storage cannot sever' }),
  );
});
