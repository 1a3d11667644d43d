import { expect, test } from 'vitest';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import { missingOf } from '../experiment/verdict/loss.ts';
import { exampleVerdict } from '../../test/support/example-verdict.ts';
import { missingInWords } from './loss-words.ts';

const told = (images: Verdict['images']) =>
  missingInWords({ ...exampleVerdict, images, missing: missingOf(images) });

test('of a last copy that nobody can read, commits are unreadable, not missing', () => {
  const facts = told([
    { image: 'first', acked: 1206, lost: 0, readable: true },
    { image: 'second', acked: 1461, lost: 1461, readable: false },
  ]);
  expect(facts).toEqual([
    {
      name: 'Acknowledged commits lost',
      value: '0 of 1,206',
      more: '0 %, by the copy before the heal, the last that could be read',
    },
    { name: 'Unreadable after the heal', value: '1,461 of 1,461', more: '100 %' },
  ]);
});

test('of a last copy that was read to its end, they are missing', () => {
  const [lost, missing] = told([{ image: 'second', acked: 100, lost: 4, readable: true }]);
  expect(lost).toMatchObject({ value: '4 of 100', more: '4 %' });
  expect(missing?.name).toBe('Missing after the heal');
});
