/** The verdict's algebra, law by law. */
import { expect, test } from 'vitest';
import { safetyLevels } from '../../scenario/scenario.ts';
import { exitCodeOf, verdictWord, worst } from './verdict.ts';

test('the worst level wins, whatever the order', () => {
  expect(worst([])).toBe('safe');
  for (const a of safetyLevels) {
    for (const b of safetyLevels) {
      const expected = safetyLevels[Math.max(safetyLevels.indexOf(a), safetyLevels.indexOf(b))];
      expect(worst([a, b])).toBe(expected);
    }
  }
});

test('proven damage stands without complete evidence; safety and exposure do not', () => {
  expect(safetyLevels.map((level) => verdictWord(level, true))).toEqual([...safetyLevels]);
  expect(safetyLevels.map((level) => verdictWord(level, false))).toEqual([
    'inconclusive',
    'inconclusive',
    'lost',
    'corrupt',
  ]);
});

test('exit codes: expected 0, a surprise 1, inconclusive 3', () => {
  expect(exitCodeOf({ verdict: 'lost', asExpected: true })).toBe(0);
  expect(exitCodeOf({ verdict: 'safe', asExpected: false })).toBe(1);
  expect(exitCodeOf({ verdict: 'inconclusive', asExpected: false })).toBe(3);
});
