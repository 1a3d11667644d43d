/** A lease is one cluster's at a time, whichever engine that is on. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { LeaseHold } from './lease.ts';

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
