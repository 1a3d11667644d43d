/**
 * Faults of the harness's own machine: no run that lacks evidence is green, and after the next start
 * nothing is left. Three that are quick; those that harm an engine, and the others, are in test/full.
 */
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import {
  brokenOn,
  busyTimeoutMs,
  clean,
  cluster,
  expectNotGreen,
  firstTimeoutMs,
  kept,
  quick,
  timeoutMs,
  watching,
} from './ended-run.ts';
import { startExperiment } from '../cluster/experiment.ts';
import { leaseOf, stateOf } from '../cluster/machine-state.ts';
import { smallFolder } from './small-folder.ts';

const short = [...kept, '--remedy', 'none', '--horizon', '5s', '--converge', '10s'];

afterAll(clean, timeoutMs);

test('the array’s container is killed in the watch', { timeout: firstTimeoutMs }, async () => {
  const run = startExperiment('network-partition', short);
  await run.printed(watching);
  await $({ quiet: true })`docker kill fd-${cluster}-array`;
  expectNotGreen(await run.done);
});

/** Also the next start after the one before, on the same cluster. */
test('the run’s folder is full in the watch', { timeout: busyTimeoutMs }, async () => {
  await using small = await smallFolder();
  const run = startExperiment('network-partition', short, { folder: join(small.path, 'run') });
  await run.printed(watching);
  const lease = await leaseOf(cluster);
  small.leave(0);
  const ended = await run.done;
  expectNotGreen(ended);
  expect(ended.stderr).toContain('HISTORY_UNWRITABLE');
  expect(await brokenOn(lease)).toEqual([]);
});

test('two starts at once over what a killed run left', { timeout: busyTimeoutMs }, async () => {
  await clean();
  const killed = startExperiment('network-partition', quick);
  await killed.printed('kind: preparing nodes');
  const lease = await leaseOf(cluster);
  killed.signal('SIGKILL');
  await killed.done;
  const starts = [1, 2].map(() => startExperiment('network-partition', quick));
  const loser = await Promise.race(starts.map(({ done }) => done));
  expect(loser.stderr).toContain('CLUSTER_BUSY');
  for (const start of starts) start.signal('SIGINT');
  const ends = await Promise.all(starts.map(({ done }) => done));
  expect(ends.map(({ exitCode }) => exitCode)).toEqual([4, 4]);
  expect(await stateOf(cluster, lease), ends.map(({ stderr }) => stderr).join('\n')).toEqual({});
});
