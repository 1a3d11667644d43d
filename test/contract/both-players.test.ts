/** The sweep's player and the runner come to the same, over each pair of fault, remedy and disk. */
import { expect, test } from 'vitest';
import { coveringCells, differences, nameOf } from '../support/both-players.ts';

const disksEach = 2;

test('player and runner agree', async () => {
  const differ: Record<string, readonly string[]> = {};
  for (const cell of coveringCells(disksEach)) {
    const found = await differences(cell, 1);
    if (found.length > 0) differ[nameOf(cell)] = found;
  }
  expect(differ).toEqual({});
});
