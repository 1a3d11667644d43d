import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventsOf, sharesCluster, type BatchTrial } from './batch-plan.ts';
import { combined, type Settings, withValues } from '../scenario/index.ts';
import { examplePlan } from '../../test/support/example-batch.ts';

const shapes = fc.record({
  disks: fc.integer({ min: 1, max: 5 }),
  repeats: fc.integer({ min: 1, max: 3 }),
  loud: fc.boolean(),
});

test('each trial is in one event, with others that share its fault and its seed', () => {
  fc.assert(
    fc.property(shapes, fc.integer({ min: 1, max: 9 }), (shape, volumes) => {
      const { trials } = examplePlan(shape);
      const events = eventsOf(trials, (trial) => trial, volumes);
      expect(events.flat().toSorted(byId)).toEqual(trials.toSorted(byId));
      expect(events.map(([first]) => first)).toEqual(
        trials.filter((trial) => events.some(([first]) => first === trial)),
      );
      for (const event of events) {
        expect(event.length).toBeLessThanOrEqual(volumes);
        if (event.length === 1) continue;
        expect(event.some(({ alone, kind }) => alone || kind === 'check')).toBe(false);
        expect(new Set(event.map(({ seed }) => seed)).size).toBe(1);
        expect(new Set(event.map(({ scenario }) => scenario.fault.kind)).size).toBe(1);
      }
    }),
    { numRuns: 40 },
  );
});

const cellTrial = (): BatchTrial => {
  const { trials } = examplePlan({ disks: 1, repeats: 1, loud: false });
  const trial = trials.find(({ kind, alone }) => kind === 'cell' && !alone);
  if (trial === undefined) throw new Error('no cell');
  return trial;
};

test('what shares an event shares a cluster, unless the Node comes back as another', () => {
  const trial = cellTrial();
  const shares = (settings: Settings, more: Partial<BatchTrial> = {}): boolean =>
    sharesCluster({ ...trial, ...more, scenario: combined(trial.scenario, settings) });
  const within: readonly Settings[] = [{}, { remedy: { kind: 'power-off-and-taint' } }];
  const beyond: readonly Settings[] = [
    { remedy: { kind: 'delete-node' } },
    { remedy: { kind: 'delete-machine' } },
    { also: { kind: 'controller-restart' } },
    { fault: { kind: 'api-outage' } },
  ];
  expect(within.filter((settings) => !shares(settings))).toEqual([]);
  expect(beyond.filter((settings) => shares(settings))).toEqual([]);
  expect([shares({}, { alone: true }), shares({}, { kind: 'check' })]).toEqual([false, false]);
});

test('pods of one event may be evicted at times of their own, but not where the node is acted on', () => {
  const trial = cellTrial();
  const eventsWith = (remedy: 'force-delete' | 'out-of-service'): number => {
    const own = [10_000, 20_000].map((tolerationMs) => ({
      ...trial,
      scenario: withValues(trial.scenario, [
        ['remedy.kind', remedy],
        ['timers.toleration', tolerationMs],
      ]),
    }));
    return eventsOf(own, (each) => each, 9).length;
  };
  expect(eventsWith('force-delete')).toBe(1);
  expect(eventsWith('out-of-service')).toBe(2);
});

test('an attachment is of one volume, and a shutdown of all that its node has', () => {
  const trial = cellTrial();
  const eventsOfTwo = (...two: readonly [Settings, Settings]): number => {
    const own = two.map((settings) => ({ ...trial, scenario: combined(trial.scenario, settings) }));
    return eventsOf(own, (each) => each, 9).length;
  };
  const vendor = { remedy: { kind: 'delete-attachment-and-pod' } } as const;
  expect(eventsOfTwo({ remedy: { kind: 'force-delete' } }, vendor)).toBe(1);
  expect(eventsOfTwo({ remedy: { kind: 'out-of-service' } }, vendor)).toBe(2);
  for (const kind of ['node-shutdown', 'shutdown-hang'] as const) {
    expect(eventsOfTwo({ fault: { kind } }, { fault: { kind }, disk: { mode: 'fenced' } })).toBe(1);
  }
});

const byId = (a: BatchTrial, b: BatchTrial): number => a.id.localeCompare(b.id);
