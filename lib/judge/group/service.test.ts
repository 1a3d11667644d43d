import { expect, test } from 'vitest';
import { behindMs } from './service.ts';

const acknowledged = new Map([
  [
    '0/0',
    [
      { seq: 0, atMs: 100 },
      { seq: 1, atMs: 200 },
    ],
  ],
  [
    '0/1',
    [
      { seq: 0, atMs: 5000 },
      { seq: 2, atMs: 6000 },
    ],
  ],
]);

test.each([
  [7000, { '0/0': 1, '0/1': 2 }, 0],
  [7000, { '0/0': 1, '0/1': 1 }, 1000],
  [7000, { '0/0': 1 }, 2000],
  [7000, {}, 6900],
  // What was acknowledged after it began is not missed.
  [4000, { '0/0': 1 }, 0],
  [150, { '0/0': 0 }, 0],
])('a read is behind by the oldest acknowledged row that it lacks', (beganAtMs, heads, behind) => {
  expect(behindMs(acknowledged, { beganAtMs, heads })).toBe(behind);
});
