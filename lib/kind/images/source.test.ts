import { expect, test } from 'vitest';
import { askRegistry } from './image-plan.ts';

test('a patch that nobody published is asked of no registry', async () => {
  const answer = await askRegistry('1.36.1');
  expect(answer).toEqual({ answers: false, why: expect.stringMatching(/no pinned node image/) });
});
