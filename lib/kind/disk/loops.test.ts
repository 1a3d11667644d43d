/** Which loop devices of a lease there are, and which of them somebody uses. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leaseAt } from '../ownership/lease.ts';
import { boundLoops, leasedLoops } from '../ownership/labs.ts';

test('a number of the lease is in use where something is behind it', async () => {
  const sysBlock = mkdtempSync(join(tmpdir(), 'fd-block-'));
  const folders = [
    'loop127/loop',
    'loop128/loop',
    'loop130',
    'loop255/loop',
    'loop256/loop',
    'sda',
  ];
  for (const folder of folders) mkdirSync(join(sysBlock, folder), { recursive: true });
  const lease = leaseAt(0);
  expect(await leasedLoops(lease, sysBlock)).toEqual([128, 130, 255]);
  expect(await boundLoops(lease, sysBlock)).toEqual([128, 255]);
  rmSync(sysBlock, { recursive: true });
});
