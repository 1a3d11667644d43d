import { expect, test } from 'vitest';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import { exampleVerdict } from '../../test/support/example-verdict.ts';
import { expectedInRun } from './wording.ts';

test.each([
  [
    { corrupt: 20, exposed: 4 },
    'corrupt in 20 of 24 or exposed in 4 of 24 fault events measured before; safe never in 24 (at most 14 %)',
  ],
  [{}, 'lost or corrupt'],
  [undefined, 'lost or corrupt'],
])('what a run was held against says what was counted, where it was: %j', (counted, words) => {
  const { serving, scenario } = exampleVerdict;
  const of = { ...scenario, ...(counted === undefined ? {} : { counted }) };
  const expected: Verdict['expected'] = ['lost', 'corrupt'];
  const open = { ...serving, expected: 'open' } as const;
  const run: Verdict = {
    ...exampleVerdict,
    verdict: 'safe',
    expected,
    serving: open,
    scenario: of,
  };
  expect(expectedInRun(run)).toBe(words);
});
