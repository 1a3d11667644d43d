import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseResults } from './result.ts';

const path = join(import.meta.dirname, '../../reports/two-kernels/samples/results.jsonl');
const text = readFileSync(path, 'utf8');

test('what was written is read again, line by line', () => {
  const results = parseResults(text);
  expect(results).toHaveLength(2);
  expect(results.map((each) => `${JSON.stringify(each)}\n`).join('')).toBe(text);
});

test('a line of another shape is refused', () => {
  expect(() => parseResults(text.replace('"host":"loops"', '"host":"elsewhere"'))).toThrow(/host/);
});
