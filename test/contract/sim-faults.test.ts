/** Every fault on the model: proven, healed, and with the verdict that is expected of it. */
import { combined } from '../../lib/scenario/index.ts';
import { expect, test } from 'vitest';
import type { Scenario, ScenarioInput } from '../../lib/scenario/scenario.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { modelScenario, runAsExpected, runOnModel, shortTimers } from '../support/model-run.ts';

type Fields = Partial<ScenarioInput>;

const scenarioOf = (fields: Fields): Scenario => modelScenario(combined(shortTimers, fields));
const run = async (fields: Fields): Promise<Verdict> =>
  (await runOnModel(scenarioOf(fields))).verdict;

/** The moments of its fault at which certificates were taken. */
const momentsOf = ({ certificates }: Verdict): string[] => [
  ...new Set(certificates.map(({ moment }) => moment)),
];

const remedy = 'force-delete';
const disks = ['unfenced', 'fenced', 'exclusive', 'reservation', 'pending-while-busy'] as const;
const living = [
  ...(['freeze', 'kubelet-stall', 'runtime-stall', 'api-partition'] as const),
  'shutdown-hang',
  'containerd-stall',
] as const;

test.each<Fields>([
  ...living.flatMap((fault) =>
    disks.map(
      (disk) =>
        ({ fault: { kind: fault }, disk: { mode: disk }, remedy: { kind: remedy } }) as const,
    ),
  ),
  ...living.map((fault) => ({ fault: { kind: fault } }) as const),
  ...living.map(
    (fault) => ({ fault: { kind: fault }, remedy: { kind: 'out-of-service' } }) as const,
  ),
  { fault: { kind: 'flapping-partition', down: 40_000, up: 20_000 }, remedy: { kind: remedy } },
  { fault: { kind: 'flapping-partition', down: 10_000, up: 10_000 }, watch: { horizon: 60_000 } },
  { fault: { kind: 'node-reboot' }, watch: { horizon: 60_000 } },
  { fault: { kind: 'node-reboot', rebootAt: 60_000 } },
  { fault: { kind: 'node-reboot', rebootAt: 'force-detach' }, remedy: { kind: remedy } },
  { fault: { kind: 'node-reboot', rebootAt: 'force-detach' }, remedy: { kind: 'out-of-service' } },
  { fault: { kind: 'node-shutdown', drainFor: 60_000 } },
  { fault: { kind: 'node-shutdown', drainFor: 1_000 }, watch: { horizon: 60_000 } },
  { fault: { kind: 'node-shutdown' }, watch: { horizon: 60_000 } },
  { fault: { kind: 'node-shutdown', shutdownGrace: 30_000 } },
  { fault: { kind: 'node-shutdown', shutdownGrace: 30_000, driverEnds: 'with-pods' } },
  { fault: { kind: 'controller-restart' }, watch: { horizon: 60_000 } },
  { fault: { kind: 'api-outage' }, watch: { horizon: 60_000 } },
  { fault: { kind: 'attacher-down' }, watch: { horizon: 60_000 } },
  { fault: { kind: 'controller-freeze' }, watch: { horizon: 60_000 } },
  { fault: { kind: 'controller-failover' }, watch: { horizon: 60_000 } },
  { fault: { kind: 'control-plane-freeze' }, watch: { horizon: 60_000 } },
  { fault: { kind: 'lease-write' }, watch: { horizon: 60_000 } },
  { fault: { kind: 'kubelet-restart' }, watch: { horizon: 60_000 } },
  { fault: { kind: 'cpu-starvation' } },
  { fault: { kind: 'clock-step' } },
  { fault: { kind: 'clock-step' }, remedy: { kind: 'force-delete', at: 60_000 } },
  {
    fault: { kind: 'network-partition' },
    remedy: { kind: remedy },
    also: { kind: 'controller-restart' },
  },
  ...(
    ['api-outage', 'controller-freeze', 'controller-failover', 'control-plane-freeze'] as const
  ).map(
    (also) =>
      ({
        fault: { kind: 'network-partition' },
        remedy: { kind: remedy },
        also: { kind: also },
      }) as const,
  ),
  {
    fault: { kind: 'network-partition' },
    remedy: { kind: remedy },
    also: { kind: 'attacher-down', at: 'force-detach' },
  },
])('%o', async (fields) => {
  const verdict = await runAsExpected(scenarioOf(fields));
  expect(momentsOf(verdict)).toEqual(['before', 'during', 'after']);
});

test('a zombie does its harm after the thaw, not before', async () => {
  const { images, exposure } = await run({ fault: { kind: 'freeze' }, remedy: { kind: remedy } });
  const lostIn = (label: string): number | null | undefined =>
    images.find(({ image }) => image === label)?.lost;
  expect(lostIn('first')).toBe(0);
  expect(lostIn('second')).toBeGreaterThan(0);
  // Frozen as it is, it has its access still.
  expect(exposure.ms).toBeGreaterThan(10_000);
});

test('a stalled kubelet lets its database serve both clients until the successor is in', async () => {
  const { phases, exposure } = await run({
    fault: { kind: 'kubelet-stall' },
    remedy: { kind: remedy },
  });
  expect(phases.notReady).toBeGreaterThan(10);
  expect(exposure.ms).toBeGreaterThan(10_000);
});

test('a node that is back within the grace period is never given up', async () => {
  const { phases } = await run({
    fault: { kind: 'node-reboot', rebootAt: 5_000 },
    watch: { horizon: 60_000 },
  });
  expect(phases.notReady).toBeNull();
  expect(phases.secondMount).toBeNull();
});

test('a reboot whose moment never came proves nothing', async () => {
  const never = { fault: { rebootAt: 'force-detach' }, watch: { horizon: 60_000 } } as const;
  const { verdict, incompleteBecause } = await run(
    combined({ fault: { kind: 'node-reboot' } }, never),
  );
  expect(verdict).toBe('inconclusive');
  expect(incompleteBecause.join()).toContain('the watch was over before it booted');
});

test('a node whose Lease somebody writes to is not given up from 1.37 on', async () => {
  const fields = {
    also: { kind: 'lease-write', at: 5_000, for: 60_000 },
    remedy: { kind: 'none' },
  } as const;
  const notReady = async (kubernetes: string): Promise<number | null | undefined> =>
    (await runAsExpected(scenarioOf({ ...fields, kubernetes: { version: kubernetes } }))).phases
      .notReady;
  expect(await notReady('1.37')).toBeNull();
  expect(await notReady('1.36')).toBeLessThan(60);
});
