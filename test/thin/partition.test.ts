/**
 * The thin real path of `npm test`: a partition on kind with shortened timers, the positive and the negative
 * control. They share one kept cluster; the last test removes it and finds the machine as it was.
 */
import { expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { exitCodeOf } from '../../lib/judge/verdict/verdict.ts';
import { runExperiment } from '../cluster/experiment.ts';
import { machineState } from '../cluster/machine-state.ts';
import { firstRunMs, known, quickOn, runMs } from '../cluster/short-run.ts';

const quick = quickOn('thin');
const cleanUp = () =>
  $({ quiet: true })`node_modules/.bin/zx experiments/clean.mjs --all --cluster-name thin`;
// A test run that was killed leaves its cluster: its state is not what the machine had before.
await cleanUp();
const before = await machineState();

test('an unfenced disk loses acknowledged commits when the partitioned pod is force-deleted', {
  timeout: firstRunMs,
}, async () => {
  const remedy = ['--remedy', 'force-delete', '--disk', 'unfenced'];
  const { verdict, exitCode, stderr } = await runExperiment('network-partition', [
    ...quick,
    ...remedy,
  ]);
  expect(verdict, stderr).toBeDefined();
  expect(['lost', 'corrupt'], stderr).toContain(verdict?.verdict);
  expect(exitCode).toBe(exitCodeOf(known(verdict)));
  expect(verdict?.basis).toBe('shortened');
  expect(verdict?.lost).toBeGreaterThan(0);
  expect(verdict?.exposure.ms).toBeGreaterThan(1000);
  expect(verdict?.exposure.bytesVictim).toBeGreaterThan(0);
  expect(verdict?.exposure.bytesSuccessor).toBeGreaterThan(0);
  const { podRemoved, detached, secondMount } = verdict?.phases ?? {};
  expect(Number(detached) - Number(podRemoved)).toBeGreaterThan(14);
  expect(Number(detached) - Number(podRemoved)).toBeLessThan(18);
  expect(Number(secondMount) - Number(podRemoved)).toBeLessThan(22);
  expect(verdict?.licence.map(({ step }) => step).join()).toContain(
    'gave up waiting for the unmount',
  );
});

test('the same with a fenced disk is safe', { timeout: runMs }, async () => {
  const remedy = ['--remedy', 'force-delete', '--disk', 'fenced'];
  const { verdict, exitCode, stderr } = await runExperiment('network-partition', [
    ...quick,
    ...remedy,
  ]);
  expect(verdict?.verdict, stderr).toBe('safe');
  expect(exitCode).toBe(0);
  expect(verdict?.lost).toBe(0);
  expect(verdict?.exposure.ms).toBe(0);
  expect(verdict?.phases.secondMount).not.toBeNull();
});

test('nothing is left behind', { timeout: runMs }, async () => {
  await cleanUp();
  expect(await machineState()).toEqual(before);
});
