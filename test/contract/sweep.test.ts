/**
 * The sweep plays the model without promises, the runner through the port: both come to the same
 * verdict, and one schedule always to the same outcome.
 */
import { expect, test } from 'vitest';
import type { ScenarioInput } from '../../lib/experiment/scenario.ts';
import { judge } from '../../lib/sweep/judge-schedule.ts';
import { play } from '../../lib/sweep/play.ts';
import { modelScenario, runOnModel } from '../support/model-run.ts';

const scenarios: readonly Partial<ScenarioInput>[] = [
  { fault: 'network-partition', remedy: 'none' },
  { fault: 'network-partition', remedy: 'force-delete' },
  { fault: 'network-partition', remedy: 'out-of-service', disk: 'fenced' },
  { fault: 'network-partition', remedy: 'force-delete', link: 'stalls' },
  { fault: 'node-crash', remedy: 'out-of-service' },
  { fault: 'kubelet-stall', remedy: 'out-of-service' },
  { fault: 'network-partition', workload: 'deployment-recreate', serverKills: 2 },
  { fault: 'network-partition', serverKills: 3 },
  { fault: 'node-crash', workload: 'deployment-recreate', serverKills: 2 },
];

test.each(scenarios)('%j: one verdict', async (fields) => {
  const scenario = modelScenario(fields);
  const { verdict } = await runOnModel(scenario, 'a');
  const outcome = play(scenario, 'a');
  expect(judge(outcome).safety).toBe(verdict.safety);
  const secondMountS = (outcome.secondMountUs ?? NaN) / 1e6;
  expect(Number.isNaN(secondMountS)).toBe(verdict.phases.secondMount === null);
});

test('one seed, one outcome; another seed, other times', () => {
  const scenario = modelScenario({ fault: 'network-partition', remedy: 'force-delete' });
  const once = play(scenario, 'a');
  expect(play(scenario, 'a')).toEqual(once);
  expect(play(scenario, 'b').secondMountUs).not.toBe(once.secondMountUs);
});
