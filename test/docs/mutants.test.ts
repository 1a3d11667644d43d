/** docs/internals/mutants.md is what was measured. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutants } from '../../research/mutants/kinds/index.ts';
import { renderedPage } from '../../research/mutants/page.ts';
import { linesOf } from '../../lib/measurements/store.ts';
import { mutantSchema } from '../../lib/report/mutant-score.ts';

test('docs/internals/mutants.md carries the numbers of the store', () => {
  expect(readFileSync('docs/internals/mutants.md', 'utf8')).toBe(renderedPage());
});

test('every kind of damage has been planted, and none is told of that is not', () => {
  const measured = linesOf(mutantSchema)
    .map(({ id }) => id)
    .toSorted();
  expect(measured).toEqual(mutants.map(({ name }) => name).toSorted());
});
