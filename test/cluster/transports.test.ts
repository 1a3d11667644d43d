/**
 * MySQL on a disk that its node reaches over a storage network, with shortened timers: NBD replays. At the end the
 * machine is as it was. NBD's fence and the other transports are in test/full/transports.test.ts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { exitCodeOf } from '../../lib/judge/verdict/verdict.ts';
import { runExperiment } from './experiment.ts';
import { machineState } from './machine-state.ts';
import { firstRunMs, known, quickOn, runMs } from './short-run.ts';

const cleanUp = () =>
  $({ quiet: true })`node_modules/.bin/zx experiments/clean.mjs --all --cluster-name nbd`;
await cleanUp();
const before = await machineState();

test('a victim that lost both networks replays over its successor', {
  timeout: firstRunMs,
}, async () => {
  const { verdict, exitCode, stderr, folder } = await runExperiment('network-partition', [
    ...[...quickOn('nbd'), '--disk-transport', 'nbd', '--remedy', 'force-delete'],
    ...['--disk', 'unfenced', '--link', 'stalls'],
  ]);
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

test('nothing is left behind', { timeout: runMs }, async () => {
  await cleanUp();
  expect(await machineState()).toEqual(before);
});
