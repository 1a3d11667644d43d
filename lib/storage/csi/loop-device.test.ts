import { expect, test } from 'vitest';
import { loopOfDevice } from './devices.ts';

test.each([
  [0x700n, 0],
  [0x780n, 128],
  [0x100705n, 261],
  [0x805n, -1],
  [0x10300n, -1],
])('the kernel calls %i the loop device %i', (device, loop) => {
  expect(loopOfDevice(device)).toBe(loop);
});
