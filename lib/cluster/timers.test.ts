import { expect, test } from 'vitest';
import { clusterTimers, goDuration, stockClusterTimers, tolerationSecondsOf } from './timers.ts';

const forceDetachAfterMs = 360_000;

test('with the stock grace period every timer is stock', () => {
  expect(clusterTimers({ graceMs: 50_000, forceDetachAfterMs })).toEqual(stockClusterTimers);
});

test('the others follow a shortened grace period', () => {
  expect(clusterTimers({ graceMs: 10_000, forceDetachAfterMs: 30_000 })).toEqual({
    nodeMonitorGraceMs: 10_000,
    nodeMonitorPeriodMs: 2_000,
    kubeletLeaseMs: 8_000,
    kubeletStatusMs: 2_000,
    forceDetachAfterMs: 30_000,
  });
});

test('a lease is at least a second, and a long grace period does not slow the monitor', () => {
  expect(clusterTimers({ graceMs: 1_000, forceDetachAfterMs }).kubeletLeaseMs).toBe(1_000);
  expect(clusterTimers({ graceMs: 100_000, forceDetachAfterMs }).nodeMonitorPeriodMs).toBe(5_000);
});

test('a lease always outlives the renewals that its holder may miss', () => {
  for (let graceMs = 2_000; graceMs <= 200_000; graceMs += 700) {
    const timers = clusterTimers({ graceMs, forceDetachAfterMs });
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
