/**
 * MySQL on a disk that its node reaches over a storage network, with shortened timers: NBD replays and is fenced,
 * and iSCSI is revoked by its server. Runs of one transport share a kept cluster; at the end the machine is as it was.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { exitCodeOf } from '../../lib/judge/verdict/verdict.ts';
import { runExperiment } from './experiment.ts';
import { machineState } from './machine-state.ts';
import { firstRunMs, known, quickOn, runMs } from './short-run.ts';

const cleanUp = async () => {
  for (const name of ['nbd', 'iscsi'])
    await $({
      quiet: true,
    })`node_modules/.bin/zx experiments/clean.mjs --all --cluster-name ${name}`;
};
const partition = (transport: string, ...disk: readonly string[]) =>
  runExperiment('network-partition', [
    ...[...quickOn(transport), '--disk-transport', transport, '--remedy', 'force-delete'],
    ...disk,
  ]);
await cleanUp();
const before = await machineState();

test('NBD: a victim that lost both networks replays over its successor', {
  timeout: firstRunMs,
}, async () => {
  const run = await partition('nbd', '--disk', 'unfenced', '--link', 'stalls');
  const { verdict, exitCode, stderr, folder } = run;
  expect(['lost', 'corrupt'], stderr).toContain(verdict?.verdict);
  expect(exitCode).toBe(exitCodeOf(known(verdict)));
  expect(verdict?.phases.secondMount).not.toBeNull();
  // Each write of a node is in the array's log by its generation.
  expect(verdict?.exposure.bytesSuccessor).toBeGreaterThan(0);
  expect(verdict?.exposure.blocksBoth).toBeGreaterThan(0);
  const claims = verdict?.certificates.filter(({ holds }) => holds).map(({ claim }) => claim);
  expect(claims).toContain('the disk took no write of the victim while its path was severed');
  const evidence = verdict?.certificates.map((each) => each.evidence).join();
  expect(evidence).toMatch(/fd-nbd-worker2?-initiator is off the storage network fd-nbd-storage/);
  expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toContain(
    'the cluster’s network and the storage network',
  );
});

test.each([
  ['nbd', 'a victim that the array fences', []],
  // It hangs, and no error ever reaches it: the clean-up has to end that.
  ['iscsi', 'a victim that loses its permission and its sessions', ['--revocation', 'acl+session']],
])('%s: beside %s the successor is safe', { timeout: firstRunMs }, async (transport, _, how) => {
  const { verdict, exitCode, stderr } = await partition(transport, '--disk', 'fenced', ...how);
  expect(verdict?.verdict, stderr).toBe('safe');
  expect(exitCode).toBe(0);
  expect(verdict?.exposure.ms).toBe(0);
  expect(verdict?.phases.secondMount).not.toBeNull();
});

test('nothing is left behind', { timeout: runMs }, async () => {
  await cleanUp();
  expect(await machineState()).toEqual(before);
});
