/** The sweep's player and the runner come to the same for each fault with each remedy, on one disk each. */
import { expect, test } from 'vitest';
import { faultKinds } from '../../lib/scenario/faults/index.ts';
import { coveringCells, differences, nameOf } from '../support/both-players.ts';

test.each(faultKinds)('player and runner agree: %s', async (fault) => {
  const differ: Record<string, readonly string[]> = {};
  for (const cell of coveringCells.filter((each) => each.fault.kind === fault)) {
    const found = await differences(cell, 1);
    if (found.length > 0) differ[nameOf(cell)] = found;
  }
  expect(differ).toEqual({});
});
