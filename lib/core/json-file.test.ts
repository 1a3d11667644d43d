import { expect, test } from 'vitest';
import { z } from 'zod';
import { UsageError } from './errors.ts';
import { parseJson } from './data-file.ts';

const kind = {
  kind: 'note',
  schema: z.strictObject({ schemaVersion: z.number().optional(), words: z.array(z.string()) }),
  version: 1,
  hint: 'docs/notes.md',
  example: 'note.json',
};

function refusalOf(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    if (error instanceof UsageError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'parsed';
}
const refusal = (text: string): string => refusalOf(() => parseJson(text, 'a.json', kind));

test('what is wrong is said with its line and column', () => {
  expect(refusal('{"words": ["a",\n 7]}')).toMatch(/NOTE_INVALID[^]*a\.json:2:2: words\.1/);
  expect(refusal('{"words": [\n"a" "b"]}')).toMatch(/NOTE_INVALID[^]*a\.json:2:5/);
  expect(refusal('{"words": [tru]}')).toMatch(/NOTE_INVALID[^]*a\.json/);
});

test('a later version is not guessed at', () => {
  expect(refusal('{"schemaVersion": 2, "words": []}')).toContain('NOTE_NEWER a.json has version 2');
});
