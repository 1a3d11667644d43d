import { expect, test } from 'vitest';
import { z } from 'zod';
import { UsageError } from './errors.ts';
import { parseJson } from './json-file.ts';
import { parseYaml } from './yaml-file.ts';

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

test.each([
  '',
  '{"words',
  'null',
  '[]',
  '"words"',
  '\0\0\0',
  '{"words":["a"]}}',
  '['.repeat(50_000),
])('%.20j is refused', (text) => {
  expect(refusal(text)).toContain('NOTE_INVALID');
});

test('a later version is not guessed at', () => {
  expect(refusal('{"schemaVersion": 2, "words": []}')).toContain('NOTE_NEWER a.json has version 2');
});

test('no key may take the name that JavaScript takes for something else', () => {
  const map = { ...kind, schema: z.record(z.string(), z.unknown()) };
  const text = '{"a": {"__proto__": {"polluted": true}}}';
  expect(refusalOf(() => parseJson(text, 'a.json', map))).toContain('__proto__');
  expect(refusalOf(() => parseYaml(text, 'a.yaml', map))).toMatch(/a\.yaml:1:8: .*__proto__/);
  expect(refusalOf(() => parseYaml('constructor: 1', 'a.yaml', map))).toBe('parsed');
  expect('polluted' in {}).toBe(false);
});

test('no more complaints than anybody reads', () => {
  const many = JSON.stringify({ words: Array.from({ length: 1000 }, (_, n) => n) });
  expect(refusal(many).split('\n').length).toBeLessThan(15);
  expect(refusal(many)).toContain('… and 990 more');
});
