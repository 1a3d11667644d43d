import { expect, test } from 'vitest';
import { statedInterval } from './figures.ts';
import { brier, brierOfWords, isInside, winkler } from './score-forecast.ts';

const interval = { from: 10, median: 12, to: 14 };

test('an interval costs its width, and twenty times what lies beside it', () => {
  expect(winkler(interval, 12)).toBe(4);
  expect(winkler(interval, 14)).toBe(4);
  expect(winkler(interval, 14.5)).toBe(14);
  expect(winkler(interval, 9)).toBe(24);
  expect([10, 14, 14.01].map((value) => isInside(interval, value))).toEqual([true, true, false]);
});

test('of all intervals the one from the 5th to the 95th percentile scores best', () => {
  const values = Array.from({ length: 1000 }, (_, index) => index / 10);
  const cost = (from: number, to: number): number =>
    values.reduce((sum, value) => sum + winkler({ from, median: 50, to }, value), 0);
  const best = cost(5, 95);
  for (const [from, to] of [
    [0, 100],
    [2, 98],
    [10, 90],
    [40, 60],
  ] as const) {
    expect(cost(from, to)).toBeGreaterThan(best);
  }
});

test('sure and wrong costs most, unsure a little', () => {
  expect([brier(1, true), brier(0.5, true), brier(0.5, false), brier(1, false)]).toEqual([
    0, 0.25, 0.25, 1,
  ]);
  expect(brierOfWords({ lost: 1 }, 'lost')).toBe(0);
  expect(brierOfWords({ lost: 1 }, 'safe')).toBe(2);
  expect(brierOfWords({ lost: 0.5, corrupt: 0.5 }, 'lost')).toBe(0.5);
});

test('half a second beside the median is always allowed', () => {
  expect(statedInterval([3, 3, 3, 3])).toEqual({ from: 2.5, median: 3, to: 3.5 });
  expect(statedInterval([0, 50, 100])).toEqual({ from: 5, median: 50, to: 95 });
});
