/** The sweep's player and the runner come to the same, over every fault, remedy and disk. */
import { expect, test } from 'vitest';
import { faultKinds } from '../../lib/scenario/faults/index.ts';
import { cells, differences, nameOf } from '../support/both-players.ts';

const runsEach = 5;

test.each(faultKinds)('player and runner agree: %s', async (fault) => {
  const differ: Record<string, readonly string[]> = {};
  for (const cell of cells.filter((each) => each.fault.kind === fault)) {
    const found = await differences(cell, runsEach);
    if (found.length > 0) differ[nameOf(cell)] = found;
  }
  expect(differ).toEqual({});
});
