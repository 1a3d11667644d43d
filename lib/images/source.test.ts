import { expect, test } from 'vitest';
import { askRegistry, chooseSource } from './source.ts';

const yes = { answers: true, why: '' };
const no = { answers: false, why: 'no such host' };

test('a patch that nobody published is asked of no registry', async () => {
  const answer = await askRegistry('1.36.1');
  expect(answer).toEqual({ answers: false, why: expect.stringMatching(/no pinned node image/) });
});
