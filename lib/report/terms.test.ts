import { expect, test } from 'vitest';
import { explained, wordList } from './terms.ts';

const plain = async (text: string): Promise<string> =>
  String(await explained(text)).replaceAll(/<[^>]+>/g, '');

test('a word with a meaning is marked once, in any of its forms, and the text stays', async () => {
  const text = 'The victim and a victim: both Acknowledged commits after the hand-over';
  const markup = String(await explained(text));
  expect(markup.match(/href="#word-victim"/g)).toHaveLength(1);
  expect(markup).toContain('href="#word-acknowledged"');
  expect(await plain(text)).toBe(text);
});

test('a word within another is none, and markup stays text', async () => {
  expect(String(await explained('victimless --remedy-at <b>'))).toBe(
    'victimless --remedy-at &lt;b&gt;',
  );
});

test('the list has the words that were marked, and no other', async () => {
  const list = String(await wordList(String(await explained('healed by the successor'))));
  expect(list.match(/<dfn /g)).toHaveLength(2);
  expect(list).toContain('<dfn id="word-heal">heal</dfn>');
  expect(wordList('<p>nothing</p>')).toBe('');
});
