import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventsOf, type BatchTrial } from './batch-plan.ts';
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

const byId = (a: BatchTrial, b: BatchTrial): number => a.id.localeCompare(b.id);
