/**
 * However a run on kind is ended: the fault is healed and the machine in order, within its time. Every
 * phase, and an engine that hangs, are in test/full.
 */
import { afterAll, expect, test } from 'vitest';
import { $ } from '../../lib/engine/shell.ts';
import {
  clean,
  cluster,
  endedBy,
  expectInTime,
  firstTimeoutMs,
  hungUpIn,
  quick,
  recordsOf,
  timeoutMs,
  watching,
} from './ended-run.ts';
import { startExperiment } from './experiment.ts';
import { leaseOf, stateOf } from './machine-state.ts';

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

test('an API server that stands still', { timeout: timeoutMs }, async () => {
  const run = startExperiment('network-partition', [...quick, '--horizon', '20s']);
  await run.printed(watching);
  const lease = await leaseOf(cluster);
  // Its kubelet would replace it.
  const stop = 'kill -STOP $(pidof kubelet) $(pidof kube-apiserver)';
  await $({ quiet: true })`docker exec fd-${cluster}-control-plane sh -c ${stop}`;
  const { verdict, stderr, folder } = await run.done;
  expect(verdict?.complete, stderr).toBe(false);
  const steps = recordsOf(folder).flatMap((record) =>
    record.type === 'action' && record.actor === 'fault' ? record.step : [],
  );
  expect(steps).toContain('healed');
  expect(await stateOf(cluster, lease)).toEqual({});
});
