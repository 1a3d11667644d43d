/**
 * Real runs on a real kind cluster, with shortened timers; the partition pair is in test/thin.
 * They share one kept cluster; the last test takes it away and finds the machine as it was.
 */
import { expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { exitCodeOf } from '../../lib/judge/verdict/verdict.ts';
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

/** Disk modes: the most telling of test/full/disk-modes.test.ts, which runs them all. */
test('what the disk held for a silent watcher arrives at the heal', {
  timeout: runMs,
}, async () => {
  const { verdict, exitCode, stderr } = await runExperiment('network-partition', [
    ...quick,
    ...['--disk', 'exclusive', '--link', 'stalls'],
  ]);
  expect(verdict?.expected, stderr).toContain(verdict?.verdict);
  expect(exitCode).toBe(exitCodeOf(known(verdict)));
  expect(verdict?.phases.secondMount).not.toBeNull();
  expect(verdict?.images.find(({ image }) => image === 'first')?.lost).toBe(0);
  expect(verdict?.exposure.blocksBoth).toBeGreaterThan(0);
});

test('in a shared directory the file lock alone keeps the successor out', {
  timeout: runMs,
}, async () => {
  const { verdict, exitCode, stderr } = await runExperiment('network-partition', [
    ...quick,
    ...['--disk', 'shared-file', '--patience', '20s'],
  ]);
  expect(verdict?.verdict, stderr).toBe('safe');
  expect(exitCode).toBe(0);
  expect(verdict?.phases.secondMount).not.toBeNull();
  expect(verdict?.phases.firstCommit).toBeNull();
  expect(verdict?.exposure.ms).toBe(0);
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
