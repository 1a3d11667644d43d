/** Unreadable, lost, missing: what each copy of the volume tells of the three. */
import { expect, test } from 'vitest';
import { missingOf } from './assemble.ts';
import type { Verdict } from './verdict.ts';

type Image = Verdict['images'][number];
const copy = (image: Image['image'], lost: number, readable = true): Image => ({
  ...{ image, lost, readable },
  acked: image === 'second' ? 200 : 100,
});

test.each<readonly [string, readonly Image[], Verdict['missing']]>([
  [
    'a copy that could not be read, and all but 3 there after the heal',
    [copy('steady', 0), copy('first', 90, false), copy('second', 3)],
    {
      unreadableBeforeHeal: { count: 90, of: 100 },
      lost: { count: 3, of: 200 },
      afterHeal: { count: 3, of: 200 },
    },
  ],
  [
    'lost by the fault, and unreadable after the heal',
    [copy('first', 7), copy('second', 200, false)],
    {
      unreadableBeforeHeal: { count: 0, of: 100 },
      lost: { count: 7, of: 100 },
      afterHeal: { count: 200, of: 200 },
    },
  ],
  [
    'no copy that could be read in full but the one of before the fault',
    [copy('steady', 0), copy('first', 90, false), copy('second', 200, false)],
    {
      unreadableBeforeHeal: { count: 90, of: 100 },
      lost: null,
      afterHeal: { count: 200, of: 200 },
    },
  ],
  ['no copy', [], { unreadableBeforeHeal: null, lost: null, afterHeal: null }],
])('%s', (_, images, missing) => {
  expect(missingOf(images)).toEqual(missing);
});
