import { expect, test } from 'vitest';
import { cellsOf } from './cells.ts';
import { batchPlanOf } from './batch-plan.ts';
import { parseMatrix, shorten } from './matrix.ts';

const matrix = (axis: string): ReturnType<typeof parseMatrix> =>
  parseMatrix(
    `{ name: a, question: b, base: { rate: 2, horizonMs: 13m }, axes: ${axis} }`,
    'a.yaml',
  );

test('every cell and control has the short timers and horizon, and what else it had', () => {
  const long = matrix(
    '{ case: { one: { fault: node-crash, horizonMs: 8m }, two: { fault: network-partition } } }',
  );
  const { trials } = batchPlanOf(shorten(long), cellsOf(shorten(long)), 'seed');
  expect(trials).toHaveLength(2 + 3 + 1);
  for (const { scenario, kind } of trials) {
    const { timers, watch, load } = scenario;
    expect([
      timers.grace,
      timers.toleration,
      timers.forceDetachAfter,
      watch.horizon,
      watch.converge,
    ]).toEqual([10_000, 10_000, 30_000, 120_000, 60_000]);
    if (kind !== 'control') expect(load.rate).toBe(2);
  }
});

test('a matrix that asks about timers cannot have them shortened', () => {
  const timers = matrix('{ fault: [node-crash], tolerationMs: [30s, 300s] }');
  expect(() => shorten(timers)).toThrow(expect.objectContaining({ code: 'MATRIX_HAS_TIMERS' }));
});

test.each([
  ['a field', '{ fault: [node-crash], watch.horizon: [4m, 15m] }'],
  ['named settings', '{ wait: { a: { watch: { horizon: 4m } }, b: { watch: { horizon: 8m } } } }'],
])('nor can one that asks about the horizon, as %s: cells would keep their labels', (_, axes) => {
  const text = `{ name: a, question: b, base: { fault: freeze }, axes: ${axes} }`;
  expect(() => shorten(parseMatrix(text, 'a.yaml'))).toThrow(
    expect.objectContaining({ code: 'MATRIX_HAS_TIMERS' }),
  );
});
