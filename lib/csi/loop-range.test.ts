import { expect, test } from 'vitest';
import { candidates, freeLoop, parseLoopRange } from './loop-range.ts';
import { attach, detach, newRecord } from './record.ts';
import { defaultAttributes } from './volume-attributes.ts';

/** No machine has devices of such numbers: what is free hangs on the records alone. */
const range = parseLoopRange('900000-900002');

test.each(['', '5', '9-8', '1-2-3', 'a-b'])('%j is not a range', (text) => {
  expect(() => parseLoopRange(text)).toThrow(/not a range/);
});

test('each generation begins one further', () => {
  expect(candidates(range, 1)).toEqual([900000, 900001, 900002]);
  expect(candidates(range, 3)).toEqual([900002, 900000, 900001]);
  expect(candidates(range, 4)).toEqual([900000, 900001, 900002]);
});

test('a number is free again when its attachment is detached', async () => {
  let record = newRecord();
  for (const loop of [900000, 900001, 900002]) {
    record = attach(record, { node: `n${loop}`, loop, attributes: defaultAttributes, wallMs: 1 });
  }
  const detached = detach(record, 'n900001', 2);
  expect(await freeLoop(range, 4, [record], [])).toBeUndefined();
  expect(await freeLoop(range, 4, [detached], [])).toBe(900001);
  expect(await freeLoop(range, 4, [detached], [900001])).toBeUndefined();
});
