import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventKey, eventsOf, sharesCluster } from './events.ts';
import { examplePlan } from '../../test/support/example-batch.ts';
import type { BatchTrial } from './batch-plan.ts';

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
        expect(new Set(event.map(({ scenario }) => scenario.fault)).size).toBe(1);
      }
    }),
    { numRuns: 40 },
  );
});

const byId = (a: BatchTrial, b: BatchTrial): number => a.id.localeCompare(b.id);

test('disks share a fault, what is done to a pod as well; what is done to the node does not', () => {
  const trial = examplePlan().trials.find(({ kind }) => kind === 'cell');
  if (trial === undefined) throw new Error('no cell');
  const keyOf = (changes: Partial<BatchTrial['scenario']>): string | undefined =>
    eventKey({ ...trial, scenario: { ...trial.scenario, ...changes } });
  expect(keyOf({ disk: 'fenced', remedy: 'none' })).toBe(
    keyOf({ disk: 'unfenced', remedy: 'force-delete' }),
  );
  expect(keyOf({ remedy: 'out-of-service' })).not.toBe(keyOf({ remedy: 'force-delete' }));
  expect(keyOf({ graceMs: 1 })).not.toBe(keyOf({}));
  expect(keyOf({ tolerationMs: 1 })).toBe(keyOf({}));
  expect(keyOf({ remedy: 'drain', tolerationMs: 1 })).not.toBe(keyOf({ remedy: 'drain' }));
  expect(keyOf({ link: 'stalls' })).not.toBe(keyOf({}));
  expect(keyOf({ also: 'controller-restart' })).toBeUndefined();
  expect(keyOf({ disk: 'shared-file' })).toBeUndefined();
  expect(keyOf({ fault: 'flapping-partition' })).toBeUndefined();
});

test('victims share a cluster, but for what their cluster would notice', () => {
  const { trials } = examplePlan();
  const cell = trials.find(({ kind }) => kind === 'cell');
  const rerun = trials.find(({ kind }) => kind === 'check');
  if (cell === undefined || rerun === undefined) throw new Error('no cell or no rerun');
  const shares = (changes: Partial<BatchTrial['scenario']>): boolean =>
    sharesCluster({ ...cell, scenario: { ...cell.scenario, ...changes } });
  expect(shares({})).toBe(true);
  expect(sharesCluster(rerun)).toBe(false);
  expect(shares({ remedy: 'delete-node' })).toBe(false);
  expect(shares({ also: 'controller-restart' })).toBe(false);
});
