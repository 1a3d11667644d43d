/** Two victims on the model: the second fault comes to the node that it is for, is proven and healed. */
import { expect, test } from 'vitest';
import { combined } from '../../lib/scenario/index.ts';
import type { Scenario, ScenarioInput } from '../../lib/scenario/scenario.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { differences } from '../support/both-players.ts';
import { modelScenario, runAsExpected, shortTimers } from '../support/model-run.ts';

type Fields = Partial<ScenarioInput>;

const scenarioOf = (fields: Fields): Scenario =>
  modelScenario(
    combined(
      shortTimers,
      { remedy: { kind: 'force-delete' }, watch: { horizon: 300_000 } },
      fields,
    ),
  );

const stepsOf = ({ certificates }: Verdict, fault: string): string[] => [
  ...new Set(certificates.filter((each) => each.fault === fault).map(({ moment }) => moment)),
];

const crashed = { fault: { kind: 'node-crash' } } as const;
const successorCrash = {
  also: { kind: 'node-crash', at: 'successor-ready', for: 120_000 },
} as const;

test.each<Fields>([
  { ...crashed, ...successorCrash },
  { ...crashed, ...successorCrash, workload: { terminationGrace: 0 } },
  { ...crashed, also: { kind: 'network-partition', at: 'second-mount', for: 60_000 } },
  { ...crashed, also: { kind: 'node-crash', at: 0, for: 60_000, on: 'neighbour' } },
  { also: { kind: 'node-crash', at: 'half-wait', for: 60_000 }, disk: { mode: 'fenced' } },
  { also: { kind: 'freeze', at: 'successor-ready', for: 60_000 }, disk: { mode: 'fenced' } },
  { also: { kind: 'runtime-stall', at: 0, for: 60_000, on: 'neighbour' } },
  { also: { kind: 'kubelet-restart', at: 'half-wait', on: 'victim' } },
  { also: { ...successorCrash.also, at: 'second-mount' } },
])('%o', async (fields) => {
  const scenario = scenarioOf(fields);
  const verdict = await runAsExpected(scenario);
  const { kind, on } = scenario.also;
  expect(stepsOf(verdict, `${kind} of the ${on}`)).toEqual(['before', 'during', 'after']);
  expect(await differences(scenario, 1)).toEqual([]);
});
