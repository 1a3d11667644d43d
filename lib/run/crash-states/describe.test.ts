import { completeScenario } from '../../scenario/scenario.ts';
import { expect, test } from 'vitest';
import type { PowerLoss } from '../../scenario/disk-kinds.ts';
import type { VerdictWord } from '../../judge/verdict/verdict.ts';
import {
  describeState,
  expectedAfterPowerLoss,
  isExpected,
  type StateResult,
  summarizeStates,
} from './explore.ts';
import { mysql } from '../../mysql/database.ts';

const state = (number: number, policy: PowerLoss, verdict: VerdictWord, lost = 0): StateResult => ({
  ...{ number, policy, verdict, lost, position: number, atMs: number, drawn: 'anywhere' },
  ...{ acked: 9, serverStarted: verdict !== 'corrupt', findings: [], unflushed: number % 2 },
  ...{ survived: 0, thorough: false, durationsMs: {} },
});

test('a state tells what mysqld said, of many lines the first two', () => {
  const evidence = ['[ERROR] page 3 is torn', `[ERROR] ${'x'.repeat(500)}`, '[ERROR] again'];
  const about = {
    level: 'damage',
    code: 'ERROR_LOG_DAMAGE',
    summary: 'in 3 lines',
    safety: 'corrupt',
    loud: true,
  } as const;
  const text = describeState({
    ...state(1, 'tears', 'corrupt'),
    findings: [{ ...about, evidence }],
  });
  const [, finding, first, second, ...more] = text.split('\n');
  expect(finding).toBe('    ERROR_LOG_DAMAGE: in 3 lines');
  expect(first).toBe('      [ERROR] page 3 is torn');
  expect(second).toHaveLength(206);
  expect(more).toEqual([]);
});

test('only stock settings on an honest disk promise safety', () => {
  const stock = completeScenario({
    ...{ name: 'a', question: '?', expected: ['safe'] },
    fault: { kind: 'node-crash' },
  });
  const whole = ['keeps', 'drops', 'reorders'] as const;
  expect(expectedAfterPowerLoss(mysql, stock, whole)).toEqual(['safe']);
  expect(
    expectedAfterPowerLoss(
      mysql,
      { ...stock, database: { ...stock.database, trxCommit: 2 } },
      whole,
    ),
  ).toEqual(['lost']);
  expect(
    expectedAfterPowerLoss(mysql, { ...stock, disk: { ...stock.disk, flushes: 'ignored' } }, whole),
  ).toEqual(['lost', 'corrupt']);
  const safe = state(1, 'keeps', 'safe');
  expect(isExpected(mysql, stock, summarizeStates([safe, state(2, 'tears', 'corrupt')]))).toBe(
    true,
  );
  expect(isExpected(mysql, stock, summarizeStates([safe, state(2, 'tears', 'lost')]))).toBe(false);
  expect(isExpected(mysql, stock, summarizeStates([safe, state(2, 'drops', 'corrupt')]))).toBe(
    false,
  );
  expect(
    isExpected(
      mysql,
      { ...stock, database: { ...stock.database, trxCommit: 2 } },
      summarizeStates([safe]),
    ),
  ).toBe(false);
});
