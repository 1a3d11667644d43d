import { expect, test } from 'vitest';
import { neededRoom } from './container-recovery.ts';

test('a recovery that ran out of room is no evidence', () => {
  expect(() => neededRoom({ bavail: 10, bsize: 4096 })).toThrow('only 40960 bytes are free');
  expect(() => neededRoom({ bavail: 2 ** 20, bsize: 4096 })).not.toThrow();
});
