import fc from 'fast-check';
import { expect, test } from 'vitest';
import { examplePlan } from '../../test/support/example-batch.ts';
import { disturbs, batchPlanOf } from './batch-plan.ts';
import { cellsOf } from './cells.ts';
import { parseMatrix } from './matrix.ts';

const shapes = fc.record({
  disks: fc.integer({ min: 1, max: 5 }),
  repeats: fc.integer({ min: 1, max: 4 }),
  loud: fc.boolean(),
  seed: fc.string({ minLength: 1 }),
});

test('every cell runs once a repeat, every control once, a tenth again', () => {
  fc.assert(
    fc.property(shapes, (shape) => {
      const { cells, trials } = examplePlan(shape);
      const ids = trials.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { id } of cells) {
        const own = trials.filter(({ kind, subject }) => kind === 'cell' && subject === id);
        expect(own).toHaveLength(shape.repeats);
        expect(new Set(own.map(({ seed }) => seed)).size).toBe(shape.repeats);
      }
      const controls = trials.filter(({ kind }) => kind === 'control');
      expect(controls.map(({ subject }) => subject).toSorted()).toEqual([
        'safe',
        'silent',
        'total',
      ]);
      const checks = trials.filter(({ kind }) => kind === 'check');
      expect(checks).toHaveLength(Math.ceil(cells.length / 10));
    }),
    { numRuns: 40 },
  );
});

test('what neighbours would notice runs alone', () => {
  const { trials } = examplePlan({ loud: true });
  for (const { scenario, alone } of trials) {
    expect(alone).toBe(scenario.load.rate === 'max');
  }
  const [calm] = trials.map(({ scenario }) => scenario).filter(({ load }) => load.rate === 25);
  expect(calm).toBeDefined();
  if (calm === undefined) return;
  expect(disturbs(calm)).toBe(false);
  expect(disturbs({ ...calm, fault: { ...calm.fault, kind: 'cpu-starvation' } })).toBe(true);
  expect(disturbs({ ...calm, load: { ...calm.load, rate: 26 } })).toBe(true);
});

const races = `
name: races
question: Which?
base: { fault: network-partition }
axes:
  race: { often: { disk: unfenced }, loud: { rate: max }, calm: { rate: 1 } }
repeats: 2
repeatsOf:
  - { cells: { race: often }, repeats: 5, alone: 3 }
`;

test('a cell may run more often, and some of its runs have the machine to themselves, first of all', () => {
  const matrix = parseMatrix(races, 'races.yaml');
  const { trials, cells } = batchPlanOf(matrix, cellsOf(matrix), 'a');
  const own = cells.map(({ id }) => {
    const events = trials.filter(({ kind, subject }) => kind === 'cell' && subject === id);
    return [events.length, events.filter(({ alone }) => alone).length];
  });
  expect(own).toEqual([
    [5, 3],
    [2, 2],
    [2, 0],
  ]);
  expect(trials.map(({ alone }) => alone).lastIndexOf(true)).toBe(4);
  const checked = trials.filter(({ kind }) => kind === 'check').map(({ subject }) => subject);
  expect(checked).not.toContain(cells[0]?.id);
  const kinds = trials.slice(5).map(({ kind }) => kind);
  expect(kinds.lastIndexOf('control')).toBeLessThan(kinds.indexOf('cell'));
});

test.each([
  ['race: never', /repeatsOf.0.cells.race: no such value: never/],
  ['other: often', /repeatsOf.0.cells.other: no such axis/],
])('more repeats of %s are refused', (place, complaint) => {
  const matrix = parseMatrix(races.replace('race: often }, r', `${place} }, r`), 'races.yaml');
  expect(() => cellsOf(matrix)).toThrow(complaint);
});
