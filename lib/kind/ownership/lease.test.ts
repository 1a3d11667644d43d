import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { auditLoopOf, driverLoopsOf, leaseAt, leaseCount, LeaseHold, leases } from './lease.ts';

test('the first lease has the documented numbers', () => {
  expect(leaseAt(0)).toEqual({
    index: 0,
    subnet: '172.30.0.0/24',
    gateway: '172.30.0.1',
    storage: { subnet: '10.200.0.0/24', gateway: '10.200.0.1' },
    podCidr: '10.100.0.0/16',
    serviceCidr: '10.160.0.0/16',
    loops: { first: 128, count: 128 },
  });
});

test('no two leases share a subnet, a pod range, a service range or a loop device', () => {
  const all = leases();
  expect(all).toHaveLength(leaseCount);
  for (const pick of ['subnet', 'podCidr', 'serviceCidr'] as const) {
    expect(new Set(all.map((lease) => lease[pick])).size).toBe(leaseCount);
  }
  const ranges = all.flatMap(({ podCidr, serviceCidr, storage }) => [
    ...[podCidr, serviceCidr, storage.subnet.replace(/0\/24$/, '0/16')],
  ]);
  expect(new Set(ranges).size).toBe(3 * leaseCount);
  const loops = all.flatMap(({ loops: { first, count } }) =>
    Array.from({ length: count }, (_, n) => first + n),
  );
  expect(new Set(loops).size).toBe(loops.length);
});

test('an index outside the range is refused', () => {
  for (const index of [-1, leaseCount, 1.5, Number.NaN]) {
    expect(() => leaseAt(index)).toThrow(RangeError);
  }
});

test('audits have loop devices that no volume gets, another one for each pool', () => {
  const { loops } = leaseAt(1);
  expect(driverLoopsOf(loops)).toBe('256-375');
  const audits = Array.from({ length: 8 }, (_, index) => auditLoopOf(loops, index + 1));
  expect(audits.toSorted((a, b) => a - b)).toEqual(audits.map((_, index) => 376 + index));
  for (const pool of [0, 9]) expect(() => auditLoopOf(loops, pool)).toThrow(RangeError);
});

const home = mkdtempSync(join(tmpdir(), 'fd-lease-hold-'));
beforeAll(() => void vi.stubEnv('XDG_STATE_HOME', home));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

test('of two that start at one moment each gets another one', async () => {
  const [one, other] = [new LeaseHold('one'), new LeaseHold('other')];
  expect(await one.take(0)).toBe(true);
  expect(await other.take(0)).toBe(false);
  expect(await other.take(1)).toBe(true);
  await Promise.all([one.release(), other.release()]);
});

test('it is had until another one is taken, or it is given back', async () => {
  const [one, other] = [new LeaseHold('one'), new LeaseHold('other')];
  expect(await one.take(0)).toBe(true);
  expect(await one.take(0)).toBe(true);
  expect(await one.take(1)).toBe(true);
  expect(await other.take(0)).toBe(true);
  expect(await other.take(1)).toBe(false);
  // It has none now: what it had before was given back.
  expect(await one.take(0)).toBe(true);
  await one.release();
  await one.release();
  expect(await other.take(0)).toBe(true);
  await other.release();
});
