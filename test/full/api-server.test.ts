/** A run whose API server stands still heals its fault, and takes its cluster away. */
import { afterAll, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import {
  clean,
  cluster,
  firstTimeoutMs,
  quick,
  recordsOf,
  timeoutMs,
  watching,
} from '../ended/ended-run.ts';
import { startExperiment } from '../cluster/experiment.ts';
import { leaseOf, stateOf } from '../cluster/machine-state.ts';

afterAll(clean, timeoutMs);

test('an API server that stands still', { timeout: firstTimeoutMs }, async () => {
  // Its node is never seen Ready again: that is all there is to converge to.
  const soon = ['--horizon', '20s', '--converge', '5s'];
  const run = startExperiment('network-partition', [...quick, ...soon]);
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
