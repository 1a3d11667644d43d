import { expect, test } from 'vitest';
import type { Verdict } from '../judge/verdict/verdict.ts';
import { commitsFact } from './loss-words.ts';

type Copies = Verdict['images'];
const before = (lost: number | null, readable = true): Copies[number] => ({
  ...{ image: 'first', acked: 1206, lost, readable },
});
const after = (lost: number | null, readable = true): Copies[number] => ({
  ...{ image: 'second', acked: 1461, lost, readable },
});

test.each<[string, Copies, string, string]>([
  ['whole', [before(0), after(0)], '0 of 1,461 lost', 'before and after the heal'],
  [
    'a last copy that cannot be read',
    [before(0), after(1461, false)],
    '1,461 of 1,461 unreadable',
    'after the heal; before the heal 0 of 1,206 lost',
  ],
  [
    'a first copy that could not be read, and a last one that lacks some',
    [before(1206, false), after(397)],
    '397 of 1,461 lost',
    'after the heal; before the heal 1,206 of 1,206 unreadable',
  ],
  [
    'a last copy that no audit could read',
    [before(45), after(null)],
    '45 of 1,206 lost',
    'before the heal; the copy from after the heal could not be audited',
  ],
  ['no copy', [], 'not known', 'no copy after the fault could be audited'],
])('%s has one number', (_, images, value, more) => {
  expect(commitsFact({ images })).toMatchObject({ value, more });
});
