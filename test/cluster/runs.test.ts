/**
 * Real runs on a real kind cluster, with shortened timers; the partition pair is in test/thin, the
 * modes of disk are in test/full/disk-modes.test.ts.
 * They share one kept cluster; the last test takes it away and finds the machine as it was.
 */
import { expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { runExperiment } from './experiment.ts';
import { machineState } from './machine-state.ts';
import { firstRunMs, known, quickOn, runMs } from './short-run.ts';

const quick = quickOn('runs');
const before = await machineState();

test('a crashed node with stock durability is safe, and the crash is certified', {
  timeout: firstRunMs,
}, async () => {
  const { verdict, exitCode, stderr } = await runExperiment('node-crash', quick);
  expect(verdict?.verdict, stderr).toBe('safe');
  expect(exitCode).toBe(0);
  const claims = verdict?.certificates.filter(({ holds }) => holds).map(({ claim }) => claim);
  expect(claims).toContain('an unsynced canary is gone');
  expect(claims).toContain('a synced canary survived');
  expect(claims).toContain('the journal was dirty before the next mount');
});

test('a shutdown lets the volume go with no eviction: the wait for the unmount begins with it', {
  timeout: runMs,
}, async () => {
  const { verdict, exitCode, stderr } = await runExperiment('node-shutdown', [
    ...quick,
    ...['--driver-ends', 'with-pods', '--toleration', '300s'],
  ]);
  expect(verdict?.verdict, stderr).toBe('safe');
  expect(exitCode).toBe(0);
  const { podRemoved, detached } = known(verdict).phases;
  expect(podRemoved).toBeLessThan(60);
  expect((detached ?? 0) - (podRemoved ?? 0)).toBeGreaterThan(15);
});

test('nothing is left behind', { timeout: runMs }, async () => {
  await $({ quiet: true })`node_modules/.bin/zx experiments/clean.mjs --all --cluster-name runs`;
  expect(await machineState()).toEqual(before);
});
