/**
 * MySQL on a real Ceph, with shortened timers. Nobody revokes: a silent victim is blocklisted by its successor's librbd,
 * and a living one hands the lock to and fro. They share one kept cluster.
 */
import { expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { runExperiment } from '../cluster/experiment.ts';
import { machineState } from '../cluster/machine-state.ts';
import { firstRunMs, quickOn, runMs } from '../cluster/short-run.ts';

const quick = [...quickOn('rbd'), '--disk-transport', 'rbd', '--remedy', 'force-delete'];
const cleanUp = () =>
  $({ quiet: true })`node_modules/.bin/zx experiments/clean.mjs --all --cluster-name rbd`;
await cleanUp();
const before = await machineState();

const played = async (...flags: readonly string[]) => {
  const { verdict, stderr } = await runExperiment('network-partition', [...quick, ...flags]);
  if (verdict === undefined) throw new Error(stderr);
  return verdict;
};

test('RBD fences a victim that lost both networks by itself', { timeout: firstRunMs }, async () => {
  const verdict = await played('--disk', 'unfenced', '--link', 'stalls');
  expect(verdict.verdict).toBe('safe');
  expect(verdict.exposure.ms).toBe(0);
  expect(verdict.findings.map(({ code }) => code)).toContain('WRITES_REFUSED');
});

test('RBD lets both write that reach it', { timeout: runMs }, async () => {
  const verdict = await played('--disk', 'unfenced');
  expect(['lost', 'corrupt']).toContain(verdict.verdict);
  expect(verdict.exposure.bytesSuccessor).toBeGreaterThan(0);
  expect(verdict.exposure.bytesVictim).toBeGreaterThan(0);
});

test.each(['cut', 'lock-rm'])('RBD, revoked by %s: safe', { timeout: runMs }, async (how) => {
  const verdict = await played('--disk', 'fenced', '--revocation', how);
  expect(verdict.verdict).toBe('safe');
  expect(verdict.exposure.ms).toBe(0);
});

test('nothing is left behind', { timeout: runMs }, async () => {
  await cleanUp();
  expect(await machineState()).toEqual(before);
});
