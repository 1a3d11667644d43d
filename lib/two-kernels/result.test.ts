import { expect, test } from 'vitest';
import { exampleResult } from './example-result.ts';
import { parseResults } from './result.ts';

test('what was written is read again, line by line', () => {
  const results = [exampleResult(), exampleResult({ host: 'vms' })];
  const text = results.map((each) => `${JSON.stringify(each)}\n`).join('');
  expect(parseResults(text)).toEqual(results);
});

test('a line of another shape is refused', () => {
  const line = JSON.stringify({ ...exampleResult(), host: 'elsewhere' });
  expect(() => parseResults(line)).toThrow(/host/);
});
