/** docs/internals/mutants.md is what was measured. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutants } from '../mutants/kinds/index.ts';
import { renderedPage } from '../mutants/page.ts';
import { readMeasuredMutants } from '../../lib/report/mutant-score.ts';

test('docs/internals/mutants.md carries the numbers of docs/internals/mutants.json', () => {
  expect(readFileSync('docs/internals/mutants.md', 'utf8')).toBe(renderedPage());
});

test('every kind of damage has been planted, and none is told of that is not', () => {
  const measured = readMeasuredMutants().mutants.map(({ name }) => name);
  expect(measured).toEqual(mutants.map(({ name }) => name));
});
