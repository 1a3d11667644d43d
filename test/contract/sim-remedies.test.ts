/** The remedies that the model plays, each with the verdict and the times that are expected of it. */
import { combined } from '../../lib/scenario/index.ts';
import { expect, test } from 'vitest';
import type { Scenario, ScenarioInput } from '../../lib/scenario/scenario.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { headlineOf } from '../../lib/judge/verdict/words.ts';
import { modelScenario, runAsExpected, runOnModel, shortTimers } from '../support/model-run.ts';

type Fields = Partial<ScenarioInput>;

const scenarioOf = (fields: Fields): Scenario => modelScenario(combined(shortTimers, fields));
const run = async (fields: Fields, seed?: string): Promise<Verdict> =>
  (await runOnModel(scenarioOf(fields), seed)).verdict;

const healthy = { fault: { kind: 'none' }, remedy: { at: 0 } } as const;

test.each<Fields>([
  { remedy: { kind: 'drain' } },
  { remedy: { kind: 'delete' } },
  { remedy: { kind: 'delete' }, workload: { terminationGrace: 0 } },
  { remedy: { kind: 'fence-first' } },
  { remedy: { kind: 'fence-first' }, fault: { link: 'stalls' } },
  { fault: { kind: 'freeze' }, remedy: { kind: 'fence-first' } },
  { workload: { terminationGrace: 0 } },
  { workload: { terminationGrace: 0 }, disk: { mode: 'fenced' } },
  { workload: { terminationGrace: 0 }, timers: { forceDetach: 'off' } },
  { remedy: { kind: 'force-delete' }, timers: { forceDetach: 'off' } },
  { remedy: { kind: 'out-of-service' }, timers: { forceDetach: 'off' } },
  { remedy: { kind: 'out-of-service', untaintAt: 'heal' } },
  { remedy: { kind: 'out-of-service', untaintAt: 'kept' }, watch: { converge: 60_000 } },
  { remedy: { kind: 'out-of-service', untaintAt: 1_000 } },
  { remedy: { kind: 'force-delete', at: 'not-ready' } },
  { ...healthy, remedy: { ...healthy.remedy, kind: 'out-of-service' } },
  { ...healthy, remedy: { ...healthy.remedy, kind: 'fence-first' } },
  { ...healthy, remedy: { ...healthy.remedy, kind: 'drain' } },
  { fault: { kind: 'node-crash' }, remedy: { kind: 'fence-first' } },
  {
    fault: { kind: 'node-reboot', rebootAt: 30_000 },
    remedy: { kind: 'out-of-service', untaintAt: 'kept' },
  },
  { remedy: { kind: 'delete-node' } },
  { remedy: { kind: 'delete-attachment', at: 'pod-gone' }, workload: { terminationGrace: 0 } },
  { remedy: { kind: 'delete-attachment-and-pod', at: 'not-ready' } },
  { fault: { kind: 'node-crash' }, remedy: { kind: 'delete-attachment-and-pod' } },
  { remedy: { kind: 'power-off-and-taint', at: 'not-ready' } },
  { remedy: { kind: 'power-off-and-taint', untaintAt: 1_000 } },
  { fault: { kind: 'freeze' }, remedy: { kind: 'power-off-and-taint', untaintAt: 'kept' } },
  { fault: { kind: 'shutdown-hang' }, remedy: { kind: 'power-off-and-taint' } },
  { fault: { kind: 'network-partition', link: 'stalls' }, remedy: { kind: 'power-off-and-taint' } },
  { fault: { kind: 'kubelet-stall' }, remedy: { kind: 'delete-machine', at: 'not-ready' } },
  { ...healthy, remedy: { ...healthy.remedy, kind: 'delete-machine' } },
  { remedy: { kind: 'delete-node', at: 'not-ready', ifOff: true } },
  { fault: { kind: 'freeze' }, remedy: { kind: 'out-of-service', at: 20_000, ifOff: true } },
  { fault: { kind: 'node-crash' }, remedy: { kind: 'delete-node', at: 'not-ready', ifOff: true } },
  { fault: { kind: 'node-crash' }, remedy: { kind: 'out-of-service', ifOff: true } },
  {
    fault: { kind: 'node-reboot', rebootAt: 5_000 },
    remedy: { kind: 'out-of-service', at: 'not-ready', ifOff: true },
  },
  { ...healthy, remedy: { ...healthy.remedy, kind: 'delete-node', ifOff: true } },
  {
    remedy: { kind: 'out-of-service', at: 40_000 },
    selfFence: { kind: 'lease-read-only', after: 22_000 },
  },
  {
    remedy: { kind: 'out-of-service', at: 0 },
    selfFence: { kind: 'lease-read-only', after: 18_000 },
  },
  { remedy: { kind: 'strip-pod-finalizer' }, workload: { finalizer: true } },
  { workload: { kind: 'deployment-recreate' }, remedy: { kind: 'force-delete' } },
  { workload: { kind: 'deployment-rolling-update' } },
  { ...healthy, remedy: { ...healthy.remedy, kind: 'delete' }, workload: { preStop: 10_000 } },
  { remedy: { kind: 'rollout-restart' } },
  { remedy: { kind: 'rollout-restart', at: 1_000 }, workload: { kind: 'deployment-recreate' } },
  { remedy: { kind: 'rollout-restart' }, workload: { kind: 'deployment-rolling-update' } },
  { fault: { kind: 'node-crash' }, remedy: { kind: 'rollout-restart' } },
])('%o', async (fields) => {
  await runAsExpected(scenarioOf(fields));
});

test('without a grace period eviction alone lets the next node in, when the wait is over', async () => {
  const { phases } = await run({ workload: { terminationGrace: 0 } });
  expect(phases.podRemoved).toBe(phases.evicted);
  const waitedS = Number(phases.secondMount) - Number(phases.podRemoved);
  const { timers } = scenarioOf({});
  expect(waitedS).toBeGreaterThan(timers.forceDetachAfter / 1000);
  expect(waitedS).toBeLessThan(timers.forceDetachAfter / 1000 + 6);
});

const stripped = {
  remedy: { kind: 'strip-attachment-finalizer', at: 'pod-gone' },
  workload: { terminationGrace: 0 },
} as const;

test('a storage that nobody asked to detach refuses every other node, also after the heal', async () => {
  const down = { also: { kind: 'attacher-down', at: 10_000, for: 40_000 } } as const;
  const verdict = await run(combined(stripped, down));
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

test('who asks the cloud first acts only on what is off, and says why not', async () => {
  const remedy = { kind: 'delete-node', at: 'not-ready', ifOff: true } as const;
  const [off, on] = [await run({ fault: { kind: 'node-crash' }, remedy }), await run({ remedy })];
  expect(off.phases.secondMount).not.toBeNull();
  expect(on.phases.secondMount).toBeNull();
  const said = [off, on].map(({ findings }) => findings.map(({ code }) => code));
  expect(said.map((codes) => codes.includes('REMEDY_REFUSED'))).toEqual([false, true]);
});

test('who asks first, and whose moment never comes, says why only where the machine runs', async () => {
  const remedy = { kind: 'delete-node', at: 'pod-gone', ifOff: true } as const;
  const [off, on] = [await run({ fault: { kind: 'node-crash' }, remedy }), await run({ remedy })];
  expect([off, on].map(({ verdict }) => verdict)).toEqual(['inconclusive', 'safe']);
  expect(off.incompleteBecause.join()).toContain('pod-gone did not come');
});

test('who asks first has nothing to wait for once another node has the volume', async () => {
  const remedy = { kind: 'delete-node', at: 'not-ready', ifOff: true } as const;
  const { phases, exposure } = await run({ workload: { terminationGrace: 0 }, remedy });
  const alone = await run({ workload: { terminationGrace: 0 } });
  expect(Math.abs(Number(phases.secondMount) - Number(alone.phases.secondMount))).toBeLessThan(10);
  expect(Math.abs(exposure.ms - alone.exposure.ms) / 1000).toBeLessThan(10);
});

test('an event that never comes is said, and the run proves nothing', async () => {
  const verdict = await run({ remedy: { kind: 'out-of-service', at: 'pod-gone' } });
  expect(verdict.verdict).toBe('inconclusive');
  expect(verdict.incompleteBecause.join()).toContain('pod-gone did not come');
});

test('a taint that was to go later than the watch lasted is said', async () => {
  const verdict = await run({
    ...healthy,
    remedy: { ...healthy.remedy, kind: 'out-of-service', untaintAt: 170_000 },
  });
  expect(verdict.incompleteBecause.join()).toContain('the watch was over before');
});

const rolled = { fault: { kind: 'none' }, remedy: { kind: 'rollout-restart', at: 0 } } as const;

test.each<[string, Fields, string]>([
  ['on the same node', { remedy: { sameNode: true } }, 'ran beside the old one on'],
  [
    'on the same node, for one pod alone',
    { remedy: { sameNode: true }, volume: { accessMode: 'ReadWriteOncePod' } },
    'no node could take it',
  ],
  ['on another node', {}, 'waited for the volume on'],
])('a rolling update of one claim does not end, and loses nothing: %s', async (_, more, why) => {
  const workload = { kind: 'deployment-rolling-update' } as const;
  const scenario = scenarioOf(combined({ ...rolled, workload }, more));
  const verdict = await runAsExpected(scenario);
  const { findings, phases } = verdict;
  expect(findings.find(({ code }) => code === 'ROLLOUT_WAITS')?.summary).toContain(why);
  expect(headlineOf(verdict)).toMatch(/^The rollout did not end; all .* commits are there\.$/);
  expect(phases.secondMount).toBeNull();
});

test.each(['stateful-set', 'deployment-recreate'] as const)(
  'where the old pod goes first a rollout ends: %s',
  async (kind) => {
    const { findings, phases } = await runAsExpected(scenarioOf({ ...rolled, workload: { kind } }));
    expect(findings.map(({ code }) => code)).not.toContain('ROLLOUT_WAITS');
    expect(Number(phases.podRemoved)).toBeLessThan(Number(phases.secondMount));
  },
);
