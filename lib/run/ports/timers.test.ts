import { expect, test } from 'vitest';
import { clusterTimers, goDuration, stockClusterTimers, tolerationSecondsOf } from './limits.ts';

const forceDetachAfterMs = 360_000;

test('with the stock grace period every timer is stock', () => {
  expect(clusterTimers({ grace: 50_000, forceDetachAfter: forceDetachAfterMs })).toEqual(
    stockClusterTimers,
  );
});

test('a lease always outlives the renewals that its holder may miss', () => {
  for (let graceMs = 2_000; graceMs <= 200_000; graceMs += 700) {
    const timers = clusterTimers({ grace: graceMs, forceDetachAfter: forceDetachAfterMs });
    expect(timers.kubeletLeaseMs).toBeLessThan(timers.nodeMonitorGraceMs);
    expect(timers.nodeMonitorPeriodMs).toBeLessThanOrEqual(timers.nodeMonitorGraceMs / 5);
  }
});

test('durations are written as Go reads them', () => {
  expect(goDuration(10_000)).toBe('10s');
  expect(goDuration(1_500)).toBe('1.5s');
});

test('a part of a second that a pod tolerates is a whole one', () => {
  expect([0, 500, 1_000, 10_001].map(tolerationSecondsOf)).toEqual([0, 1, 1, 11]);
});
