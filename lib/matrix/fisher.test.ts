import { expect, test } from 'vitest';
import { fisher } from '../intervals.ts';

test.each([
  // R: fisher.test(matrix(c(3, 1, 1, 3), 2)) is Fisher's tea: 0.4857.
  [3, 4, 1, 4, 0.4857],
  [8, 8, 0, 8, 0.0001554],
  [1, 1, 0, 8, 0.1111],
  [1, 1, 0, 24, 0.04],
  [5, 8, 12, 16, 0.647],
  [0, 0, 3, 8, 1],
  [8, 8, 16, 16, 1],
])('%i of %i against %i of %i: p %f', (countA, ofA, countB, ofB, p) => {
  const [a, b] = [
    { count: countA, of: ofA },
    { count: countB, of: ofB },
  ];
  expect(fisher(a, b)).toBeCloseTo(p, 3);
  expect(fisher(b, a)).toBeCloseTo(p, 3);
});
