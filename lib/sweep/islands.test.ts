import { expect, test } from 'vitest';
import { islandSchedules, shardsOf } from './sweep.ts';

const islands = (count: number): number => count * islandSchedules;

test('shards are whole islands, as even as may be, and leave nothing out', () => {
  expect(shardsOf(0, islands(3), 2)).toEqual([
    { from: 0, until: islands(1) },
    { from: islands(1), until: islands(3) },
  ]);
  expect(shardsOf(islands(1), islands(2) + 7, 2)).toEqual([
    { from: islands(1), until: islands(2) },
    { from: islands(2), until: islands(2) + 7 },
  ]);
  const many = shardsOf(0, islands(1000) - 1, 37);
  expect(many.map(({ from }) => from).slice(1)).toEqual(
    many.map(({ until }) => until).slice(0, -1),
  );
  expect([many[0]?.from, many.at(-1)?.until]).toEqual([0, islands(1000) - 1]);
});

test('more shards than islands are refused, and the hint says how many there may be', () => {
  expect(() => shardsOf(0, islands(1) + 1, 3)).toThrow(
    expect.objectContaining({
      code: 'TOO_MANY_SHARDS',
      exitCode: 2,
      hint: expect.stringContaining('at most --shards 2'),
    }),
  );
});
