import { expect, test } from 'vitest';
import { ValueSum } from './index-sums.ts';

test('adds exactly what a number could not hold', () => {
  const sum = new ValueSum();
  const largest = 2 ** 32 - 1;
  const rows = 4_000_000;
  for (let n = 0; n < rows; n++) sum.add(largest);
  expect(sum.result()).toEqual({ rows, sum: String(BigInt(largest) * BigInt(rows)) });
});
