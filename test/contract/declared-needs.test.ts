/** What a fault, a remedy or a field declares that it needs is enough, and all of it is used: each on a backend that has just that. */
import { combined } from '../../lib/scenario/index.ts';
import { expect, test } from 'vitest';
import { capabilityNames, type Capability } from '../../lib/core/capabilities.ts';
import { capabilitiesFor } from '../../lib/run/run-context.ts';
import type { ScenarioInput } from '../../lib/scenario/scenario.ts';
import { controlPlaneFaults, faultKinds, nodeFaults } from '../../lib/scenario/faults/index.ts';
import { refuseLacking } from '../../lib/cli/library/run-plan.ts';
import { actingRemedies } from '../../lib/scenario/remedies/index.ts';
import { having, verbsOf, type AskedVerbs } from '../support/exact-backend.ts';
import { modelScenario, runOnModel, shortTimers } from '../support/model-run.ts';

type Fields = Partial<ScenarioInput>;

const played: readonly Fields[] = [
  ...faultKinds.map((fault): Fields => ({ fault: { kind: fault } })),
  ...controlPlaneFaults.map((also): Fields => ({ also: { kind: also, at: 5_000 } })),
  ...nodeFaults.map(
    (also): Fields => ({
      also: { kind: also, at: 'second-mount' },
      disk: { mode: 'fenced' },
      remedy: { kind: 'force-delete' },
    }),
  ),
  ...actingRemedies.map(
    (remedy): Fields => ({
      remedy: { kind: remedy },
      workload: { finalizer: remedy === 'strip-pod-finalizer' },
    }),
  ),
  { fault: { link: 'stalls' } },
  { fault: { link: 'errors' } },
  { remedy: { kind: 'force-delete', moveBack: true } },
  { fault: { kind: 'none', recreations: 2 } },
  { fault: { kind: 'kubelet-stall', serverKills: 2 } },
];

const nobody = (): AskedVerbs => ({ called: new Set(), missed: new Set() });

test.each(played)('%o', async (fields) => {
  const scenario = modelScenario(combined(shortTimers, fields));
  const needs = [...new Set(capabilitiesFor(scenario))];
  const heard = nobody();
  const { verdict } = await runOnModel(scenario, '1', { on: having(needs, heard) });
  expect(verdict.incompleteBecause).toEqual([]);
  expect([...heard.missed]).toEqual([]);
  const isUsed = (need: Capability): boolean => {
    const verbs = verbsOf(need);
    return verbs.length === 0 || verbs.some((verb) => heard.called.has(verb));
  };
  expect(needs.filter((need) => !isUsed(need))).toEqual([]);
  const on = (capabilities: readonly Capability[]) => ({ backend: 'vm', capabilities });
  expect(() => refuseLacking(scenario, on(needs))).not.toThrow();
  for (const need of needs) {
    const others = capabilityNames.filter((each) => each !== need);
    expect(() => refuseLacking(scenario, on(others))).toThrow(`(${need})`);
  }
});

test('a backend that says more than it has ends the run before anything is broken, and is closed', async () => {
  const scenario = modelScenario({ ...shortTimers, fault: { kind: 'freeze' } });
  let closed = 0;
  const refused = runOnModel(scenario, '1', {
    on: (model) => ({
      ...model,
      async open(volumes) {
        const opened = await having(['node-network'], nobody())(model).open(volumes);
        return { ...opened, close: () => Promise.resolve(void closed++) };
      },
    }),
  });
  await expect(refused).rejects.toMatchObject({
    ...{ code: 'CAPABILITY_UNTRUE', exitCode: 4 },
    message: 'this cluster’s machine cannot freeze, thaw',
  });
  expect(closed).toBe(1);
});
