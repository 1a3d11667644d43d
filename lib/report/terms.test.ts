import { expect, test } from 'vitest';
import { explained } from './html-parts.ts';

const plain = async (text: string): Promise<string> =>
  String(await explained(text)).replaceAll(/<[^>]+>/g, '');

test('a word with a meaning is marked once, in any of its forms, and the text stays', async () => {
  const text = 'The victim and a victim: both Acknowledged commits after the hand-over';
  const markup = String(await explained(text));
  expect(markup.match(/href="#word-victim"/g)).toHaveLength(1);
  expect(markup).toContain('href="#word-acknowledged"');
  expect(await plain(text)).toBe(text);
});
