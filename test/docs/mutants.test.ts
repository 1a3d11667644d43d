/** docs/internals/mutants.md has the score of the store. */
import { expect, test } from 'vitest';
import { mutants } from '../../research/mutants/kinds/index.ts';
import { linesOf } from '../../lib/batch/measurements.ts';
import { mutantSchema, scoreInWords } from '../../lib/report/mutant-score.ts';
import { read } from './pages.ts';

test('docs/internals/mutants.md has the score of the store', () => {
  expect(read('docs/internals/mutants.md')).toContain(scoreInWords());
});

test('every kind of damage was planted, and the store has no other', () => {
  const measured = linesOf(mutantSchema)
    .map(({ id }) => id)
    .toSorted();
  expect(measured).toEqual(mutants.map(({ name }) => name).toSorted());
});
