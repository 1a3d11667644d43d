/**
 * However a run on kind is ended: the fault is healed and the machine in order, within its time. Every
 * phase, and an engine that hangs, are in test/full.
 */
import { afterAll, expect, test } from 'vitest';
import {
  clean,
  cluster,
  endedBy,
  expectInTime,
  firstTimeoutMs,
  hungUpIn,
  quick,
  timeoutMs,
  watching,
} from './ended-run.ts';
import { startExperiment } from '../cluster/experiment.ts';
import { leaseOf, stateOf } from '../cluster/machine-state.ts';

afterAll(clean, timeoutMs);

test('SIGHUP in the watch', { timeout: firstTimeoutMs }, () => hungUpIn('watch', watching));

test('Ctrl-C in the watch takes the cluster away', { timeout: timeoutMs }, async () => {
  await clean();
  const run = startExperiment('network-partition', quick);
  await run.printed(watching);
  const lease = await leaseOf(cluster);
  const ended = await endedBy(run, () => run.signal('SIGINT'));
  expectInTime('SIGINT in watch, cluster removed', ended);
  expect(await stateOf(cluster, lease)).toEqual({});
});
