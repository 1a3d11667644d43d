/**
 * MySQL on NBD, on iSCSI, on NFS and on a real Ceph, with shortened timers. Where nobody revokes on RBD, a silent
 * victim is blocklisted by its successor's librbd, and a living one hands the lock to and fro. Runs of one transport
 * share a kept cluster.
 */
import { expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { runExperiment } from '../cluster/experiment.ts';
import { machineState } from '../cluster/machine-state.ts';
import { firstRunMs, known, quickOn, runMs } from '../cluster/short-run.ts';

const cleanUp = async () => {
  for (const name of ['nbd', 'rbd', 'iscsi', 'nfs'])
    await $({
      quiet: true,
    })`node_modules/.bin/zx experiments/clean.mjs --all --cluster-name ${name}`;
};
await cleanUp();
const before = await machineState();

const playedOn = async (transport: string, ...flags: readonly string[]) => {
  const { verdict, stderr } = await runExperiment('network-partition', [
    ...[...quickOn(transport), '--disk-transport', transport, '--remedy', 'force-delete'],
    ...flags,
  ]);
  return known(verdict, stderr);
};
const played = (...flags: readonly string[]) => playedOn('rbd', ...flags);

test('NBD: beside a victim that the array fences the successor is safe', {
  timeout: firstRunMs,
}, async () => {
  const verdict = await playedOn('nbd', '--disk', 'fenced');
  expect(verdict.verdict).toBe('safe');
  expect(verdict.exposure.ms).toBe(0);
  expect(verdict.phases.secondMount).not.toBeNull();
});

// It hangs, and no error ever reaches it: the clean-up has to end that.
test('iSCSI: beside a victim that loses its permission and its sessions the successor is safe', {
  timeout: firstRunMs,
}, async () => {
  const verdict = await playedOn('iscsi', '--disk', 'fenced', '--revocation', 'acl+session');
  expect(verdict.verdict).toBe('safe');
  expect(verdict.exposure.ms).toBe(0);
  expect(verdict.phases.secondMount).not.toBeNull();
});

test.each([
  { disk: 'unfenced', revoke: [], ends: ['lost', 'corrupt'] },
  { disk: 'fenced', revoke: ['--revocation', 'client'], ends: ['safe'] },
])('NFS: beside a victim whose disk is $disk', { timeout: firstRunMs }, async (one) => {
  const verdict = await playedOn('nfs', '--disk', one.disk, ...one.revoke);
  expect(one.ends).toContain(verdict.verdict);
  expect(verdict.exposure.ms > 0).toBe(one.disk === 'unfenced');
});

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
