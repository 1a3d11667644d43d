/** The remedies that the model plays, each with the verdict and the times that are expected of it. */
import { expect, test } from 'vitest';
import type { Scenario, ScenarioInput } from '../../lib/scenario/scenario.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { modelScenario, runAsExpected, runOnModel, shortTimers } from '../support/model-run.ts';

type Fields = Partial<ScenarioInput>;

const scenarioOf = (fields: Fields): Scenario => modelScenario({ ...shortTimers, ...fields });
const run = async (fields: Fields, seed?: string): Promise<Verdict> =>
  (await runOnModel(scenarioOf(fields), seed)).verdict;

const healthy = { fault: 'none', remedyAt: 0 } as const;

test.each<Fields>([
  { remedy: 'drain' },
  { remedy: 'delete' },
  { remedy: 'delete', terminationGraceS: 0 },
  { remedy: 'fence-first' },
  { remedy: 'fence-first', link: 'stalls' },
  { fault: 'freeze', remedy: 'fence-first' },
  { terminationGraceS: 0 },
  { terminationGraceS: 0, disk: 'fenced' },
  { terminationGraceS: 0, forceDetach: 'off' },
  { remedy: 'force-delete', forceDetach: 'off' },
  { remedy: 'out-of-service', forceDetach: 'off' },
  { remedy: 'out-of-service', untaintAt: 'heal' },
  { remedy: 'out-of-service', untaintAt: 'kept', convergeMs: 60_000 },
  { remedy: 'out-of-service', untaintAt: 1_000 },
  { remedy: 'force-delete', remedyAt: 'not-ready' },
  { ...healthy, remedy: 'out-of-service' },
  { ...healthy, remedy: 'fence-first' },
  { ...healthy, remedy: 'drain' },
  { fault: 'node-crash', remedy: 'fence-first' },
  { fault: 'node-reboot', remedy: 'out-of-service', rebootAt: 30_000, untaintAt: 'kept' },
  { remedy: 'delete-node' },
  { remedy: 'delete-attachment', terminationGraceS: 0, remedyAt: 'pod-gone' },
  { remedy: 'strip-pod-finalizer', podFinalizer: true },
  { workload: 'deployment-recreate', remedy: 'force-delete' },
  { workload: 'deployment-rolling-update' },
  { ...healthy, remedy: 'delete', preStopS: 10 },
])('%o', async (fields) => {
  await runAsExpected(scenarioOf(fields));
});

test('without a grace period eviction alone lets the next node in, when the wait is over', async () => {
  const { phases } = await run({ terminationGraceS: 0 });
  expect(phases.podRemoved).toBe(phases.evicted);
  const waitedS = Number(phases.secondMount) - Number(phases.podRemoved);
  const { forceDetachAfterMs } = scenarioOf({});
  expect(waitedS).toBeGreaterThan(forceDetachAfterMs / 1000);
  expect(waitedS).toBeLessThan(forceDetachAfterMs / 1000 + 6);
});

const stripped = {
  remedy: 'strip-attachment-finalizer',
  terminationGraceS: 0,
  remedyAt: 'pod-gone',
} as const;

test('a storage that nobody asked to detach refuses every other node, also after the heal', async () => {
  const down = { also: 'attacher-down', alsoAt: 10_000, alsoForMs: 40_000 } as const;
  const verdict = await run({ ...stripped, ...down });
  expect(verdict.verdict).toBe('safe');
  expect(verdict.phases.secondMount).toBeNull();
  expect(verdict.availability.recovered).toBe(false);
});

test('an attacher that runs may have asked before the finalizer was gone', async () => {
  const mounts = new Set<boolean>();
  for (let seed = 0; seed < 20 && mounts.size < 2; seed += 1) {
    const { phases } = await run(stripped, String(seed));
    mounts.add(phases.secondMount !== null);
  }
  expect(mounts).toEqual(new Set([false, true]));
});

test('an event that never comes is said, and the run proves nothing', async () => {
  const verdict = await run({ remedy: 'out-of-service', remedyAt: 'pod-gone' });
  expect(verdict.verdict).toBe('inconclusive');
  expect(verdict.incompleteBecause.join()).toContain('pod-gone did not come');
});

test('a taint that was to go later than the watch lasted is said', async () => {
  const verdict = await run({ ...healthy, remedy: 'out-of-service', untaintAt: 170_000 });
  expect(verdict.incompleteBecause.join()).toContain('the watch was over before');
});
