import { expect, test } from 'vitest';
import { Pacer } from '../workload.ts';

test('connections take turns: together they keep the rate, evenly spaced', () => {
  const pacers = [0, 1, 2, 3].map((turn) => new Pacer(100, 4, turn, 1000));
  const slots = pacers.flatMap((pacer) => {
    let nowMs = 1000;
    return Array.from({ length: 3 }, () => (nowMs += pacer.takeMs(nowMs)));
  });
  expect(slots.toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 12 }, (_, n) => 1000 + 10 * n),
  );
});

test('time lost is not caught up', () => {
  const pacer = new Pacer(10, 1, 0, 0);
  expect(pacer.takeMs(0)).toBe(0);
  expect(pacer.takeMs(5000)).toBe(0);
  expect(pacer.takeMs(5001)).toBe(99);
});
