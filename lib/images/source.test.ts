import { expect, test } from 'vitest';
import { askRegistry, chooseSource } from './source.ts';

const yes = { answers: true, why: '' };
const no = { answers: false, why: 'no such host' };

test('auto takes published where a registry answers', () => {
  expect(chooseSource('auto', yes)).toMatchObject({ source: 'published' });
});

test('auto builds where none does, and says why', () => {
  expect(chooseSource('auto', no)).toEqual({
    source: 'built',
    reason: 'images: built here (no registry: no such host)',
  });
});

test('what the user asks for holds, whatever the registry says', () => {
  expect(chooseSource('built', yes)).toMatchObject({ source: 'built' });
  expect(chooseSource('published', no)).toMatchObject({ source: 'published' });
});

test('a patch that nobody published is asked of no registry', async () => {
  const answer = await askRegistry('1.36.1');
  expect(answer).toEqual({ answers: false, why: expect.stringMatching(/no pinned node image/) });
});
