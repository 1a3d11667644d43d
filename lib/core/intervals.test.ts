import fc from 'fast-check';
import { expect, test } from 'vitest';
import { difference, wilson, fisher } from './numbers.ts';

// Newcombe 1998, Statistics in Medicine 17:857, table I, method 3.
test.each([
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
])('%i of %i: the published interval', (count, of, low, high) => {
  const interval = wilson(count, of);
  expect(interval.low).toBeCloseTo(low, 4);
  expect(interval.high).toBeCloseTo(high, 4);
});

// Newcombe 1998, Statistics in Medicine 17:873, table II, method 10.
test.each([
  [56, 70, 48, 80, 0.0524, 0.3339],
  [9, 10, 3, 10, 0.1705, 0.809],
  [5, 56, 0, 29, -0.0381, 0.1926],
  [0, 10, 0, 10, -0.2775, 0.2775],
  [10, 10, 0, 10, 0.6075, 1],
])('%i/%i less %i/%i: the published interval', (x, n, y, m, low, high) => {
  const interval = difference({ count: y, of: m }, { count: x, of: n });
  expect(interval.by).toBeCloseTo(x / n - y / m, 10);
  expect(interval.low).toBeCloseTo(low, 4);
  expect(interval.high).toBeCloseTo(high, 4);
});

const counts = fc
  .integer({ min: 1, max: 5000 })
  .chain((of) => fc.record({ count: fc.integer({ min: 0, max: of }), of: fc.constant(of) }));

test('an interval lies in [0, 1] around its rate, and mirrors', () => {
  fc.assert(
    fc.property(counts, ({ count, of }) => {
      const { low, high } = wilson(count, of);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(high).toBeLessThanOrEqual(1);
      expect(low).toBeLessThanOrEqual(count / of);
      expect(high).toBeGreaterThanOrEqual(count / of);
      expect(wilson(of - count, of).high).toBeCloseTo(1 - low, 10);
    }),
  );
});

test('a difference turned round changes its sign', () => {
  fc.assert(
    fc.property(counts, counts, (a, b) => {
      const there = difference(a, b);
      const back = difference(b, a);
      expect(back.by).toBeCloseTo(-there.by, 10);
      expect(back.low).toBeCloseTo(-there.high, 10);
      expect(there.low).toBeGreaterThanOrEqual(-1 - 1e-9);
    }),
  );
});

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
