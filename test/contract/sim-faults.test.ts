/** Every fault on the model: proven, healed, and with the verdict that is expected of it. */
import { expect, test } from 'vitest';
import type { Scenario, ScenarioInput } from '../../lib/scenario/scenario.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { modelScenario, runAsExpected, runOnModel, shortTimers } from '../support/model-run.ts';

type Fields = Partial<ScenarioInput>;

const scenarioOf = (fields: Fields): Scenario => modelScenario({ ...shortTimers, ...fields });
const run = async (fields: Fields): Promise<Verdict> =>
  (await runOnModel(scenarioOf(fields))).verdict;

/** The moments of its fault at which certificates were taken. */
const momentsOf = ({ certificates }: Verdict): string[] => [
  ...new Set(certificates.map(({ moment }) => moment)),
];

const remedy = 'force-delete';
const disks = ['unfenced', 'fenced', 'exclusive', 'reservation', 'pending-while-busy'] as const;
const living = ['freeze', 'kubelet-stall', 'runtime-stall', 'api-partition'] as const;

test.each<Fields>([
  ...living.flatMap((fault) => disks.map((disk) => ({ fault, disk, remedy }) as const)),
  ...living.map((fault) => ({ fault }) as const),
  ...living.map((fault) => ({ fault, remedy: 'out-of-service' }) as const),
  { fault: 'flapping-partition', remedy, flapDownMs: 40_000, flapUpMs: 20_000 },
  { fault: 'flapping-partition', flapDownMs: 10_000, flapUpMs: 10_000, horizonMs: 60_000 },
  { fault: 'node-reboot', horizonMs: 60_000 },
  { fault: 'node-reboot', rebootAt: 60_000 },
  { fault: 'node-reboot', rebootAt: 'force-detach', remedy },
  { fault: 'node-reboot', rebootAt: 'force-detach', remedy: 'out-of-service' },
  { fault: 'controller-restart', horizonMs: 60_000 },
  { fault: 'api-outage', horizonMs: 60_000 },
  { fault: 'attacher-down', horizonMs: 60_000 },
  { fault: 'lease-write', horizonMs: 60_000 },
  { fault: 'kubelet-restart', horizonMs: 60_000 },
  { fault: 'cpu-starvation' },
  { fault: 'network-partition', remedy, also: 'controller-restart' },
  { fault: 'network-partition', remedy, also: 'api-outage' },
  { fault: 'network-partition', remedy, also: 'attacher-down', alsoAt: 'force-detach' },
])('%o', async (fields) => {
  const verdict = await runAsExpected(scenarioOf(fields));
  expect(momentsOf(verdict)).toEqual(['before', 'during', 'after']);
});

test('a zombie does its harm after the thaw, not before', async () => {
  const { images, exposure } = await run({ fault: 'freeze', remedy });
  const lostIn = (label: string): number | null | undefined =>
    images.find(({ image }) => image === label)?.lost;
  expect(lostIn('first')).toBe(0);
  expect(lostIn('second')).toBeGreaterThan(0);
  // Frozen as it is, it has its access still.
  expect(exposure.ms).toBeGreaterThan(10_000);
});

test('a stalled kubelet lets its database serve both clients until the successor is in', async () => {
  const { phases, exposure } = await run({ fault: 'kubelet-stall', remedy });
  expect(phases.notReady).toBeGreaterThan(10);
  expect(exposure.ms).toBeGreaterThan(10_000);
});

test('a node that is back within the grace period is never given up', async () => {
  const { phases } = await run({ fault: 'node-reboot', rebootAt: 5_000, horizonMs: 60_000 });
  expect(phases.notReady).toBeNull();
  expect(phases.secondMount).toBeNull();
});

test('a reboot whose moment never came proves nothing', async () => {
  const never = { rebootAt: 'force-detach', horizonMs: 60_000 } as const;
  const { verdict, incompleteBecause } = await run({ fault: 'node-reboot', ...never });
  expect(verdict).toBe('inconclusive');
  expect(incompleteBecause.join()).toContain('the watch was over before it booted');
});

test('a node whose Lease somebody writes to is not given up from 1.37 on', async () => {
  const fields = { also: 'lease-write', alsoAt: 5_000, alsoForMs: 60_000, remedy: 'none' } as const;
  const notReady = async (kubernetes: string): Promise<number | null | undefined> =>
    (await runAsExpected(scenarioOf({ ...fields, kubernetes }))).phases.notReady;
  expect(await notReady('1.37')).toBeNull();
  expect(await notReady('1.36')).toBeLessThan(60);
});
