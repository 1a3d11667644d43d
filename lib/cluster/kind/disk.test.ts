import { expect, test } from 'vitest';
import { powerLost, severed } from './disk.ts';

const device = { volume: 'v', device: '/dev/loop128', generation: 2, bytesWritten: 4096 };
const at = { node: 'w1', volume: 'v' };

test('a loss of power is proven by every path of the node to the volume', () => {
  const lost = [{ volume: 'v', unflushedWrites: 3, unflushedBytes: 12_288, kept: 1 }];
  const dead = powerLost({ devices: [{ ...device, cut: true }], lost }, at);
  expect(dead.verified).toBe(true);
  expect(dead.evidence).toContain('3 writes (12288 bytes) were acknowledged and not flushed');
  const devices = [
    { ...device, cut: true },
    { ...device, generation: 3, cut: false },
  ];
  expect(powerLost({ devices, lost }, at).verified).toBe(false);
  const other = [{ ...device, volume: 'other', cut: true }];
  expect(powerLost({ devices: other, lost: [] }, at)).toEqual({
    verified: false,
    evidence: 'w1 has no device of v',
  });
});

test('a severed link is proven by the paths that still could serve', () => {
  const path = { ...device, cut: false, link: 'stall', held: 7 } as const;
  const stalled = severed({ link: 'stall', devices: [path] }, { ...at, how: 'stalls' });
  expect(stalled).toEqual({
    verified: true,
    evidence: 'the link under /dev/loop128 (generation 2): stall, 7 requests held',
  });
  expect(severed({ link: 'stall', devices: [path] }, { ...at, how: 'errors' }).verified).toBe(
    false,
  );
  const cut = { ...path, cut: true };
  expect(severed({ link: 'stall', devices: [cut] }, { ...at, how: 'stalls' }).verified).toBe(false);
});
