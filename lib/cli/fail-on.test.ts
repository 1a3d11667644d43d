import { expect, test } from 'vitest';
import { exampleBatch } from '../../test/support/example-batch.ts';
import { exampleCell } from '../../test/support/example-cell.ts';
import type { Batch } from '../batch/batch.ts';
import { exitCodeUnder, failOnFrom, failWords, verdictsIn } from './fail-on.ts';

test('words that there are not are refused with those that there are', () => {
  expect(failOnFrom(' lost, corrupt')).toEqual(['lost', 'corrupt']);
  expect(failOnFrom('never')).toEqual([]);
  for (const text of ['', 'safe', 'expected', 'corrupted', 'never,lost', 'lost,,corrupt']) {
    expect(() => failOnFrom(text)).toThrow(failWords.join(', '));
  }
});

test.each([
  // words, code without the flag, verdicts, code
  ['lost,corrupt', 0, ['corrupt'], 1],
  ['lost,corrupt', 5, ['lost'], 1],
  ['lost,corrupt', 1, ['exposed'], 0],
  ['lost', 0, ['corrupt'], 1],
  ['lost', 0, ['exposed'], 0],
  ['exposed', 0, ['exposed'], 1],
  ['exposed', 0, ['lost'], 1],
  ['exposed', 5, ['safe', 'corrupt'], 1],
  ['corrupt', 0, ['lost'], 0],
  ['lost,corrupt', 3, ['inconclusive'], 3],
  ['lost,corrupt', 0, ['safe', 'inconclusive'], 3],
  ['lost,corrupt', 3, ['corrupt', 'inconclusive'], 1],
  ['unexpected', 1, ['lost'], 1],
  ['unexpected', 3, ['inconclusive'], 0],
  ['open', 5, ['lost'], 5],
  ['unexpected,inconclusive,open', 3, ['inconclusive'], 3],
  ['never', 1, ['corrupt'], 0],
  ['never', 4, [], 4],
  ['corrupt', 2, [], 2],
] as const)('--fail-on %s: %i with %j is %i', (words, code, verdicts, expected) => {
  expect(exitCodeUnder(failOnFrom(words), code, verdicts)).toBe(expected);
  expect(exitCodeUnder(undefined, code, verdicts)).toBe(code);
});

test('of a batch one event of one cell counts; controls do not', () => {
  const none = { safe: 0, exposed: 0, lost: 0, corrupt: 0, inconclusive: 0 };
  const verdictsOf = (verdicts: Partial<typeof none>, changes: Partial<Batch> = {}) => {
    const batch = exampleBatch(changes);
    const cells = [{ ...exampleCell('fenced', 'safe', 0), verdicts: { ...none, ...verdicts } }];
    return new Set(verdictsIn({ ...batch, checks: [], verdict: 'expected', ...changes, cells }));
  };
  expect(verdictsOf({ safe: 7, inconclusive: 1 })).toEqual(new Set(['safe']));
  expect(verdictsOf({ safe: 7, lost: 1 })).toContain('lost');
  expect(verdictsOf({ safe: 7 }, { verdict: 'inconclusive' })).toContain('inconclusive');
});
