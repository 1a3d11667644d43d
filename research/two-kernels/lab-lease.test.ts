import { expect, test } from 'vitest';
import { leaseAt, leaseCount } from '../../lib/kind/index.ts';
import { labLeaseAt, labLeaseCount } from './lab-lease.ts';

const indexes = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

test('no cluster is leased a loop device of the lab', () => {
  const leases = indexes(leaseCount).map((index) => leaseAt(index).loops);
  const loops = indexes(labLeaseCount).flatMap((index) => Object.values(labLeaseAt(index).loops));
  expect(new Set(loops).size).toBe(3 * labLeaseCount);
  for (const { first, count } of leases) {
    expect(loops.filter((loop) => loop >= first && loop < first + count)).toEqual([]);
  }
});
