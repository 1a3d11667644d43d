import { expect, test } from 'vitest';
import type { PowerLoss } from '../../scenario/disk-kinds.ts';
import type { VerdictWord } from '../../judge/verdict/verdict.ts';
import { describeSummary, type StateResult, boundOfNone, summarizeStates } from './explore.ts';

const state = (number: number, policy: PowerLoss, verdict: VerdictWord, lost = 0): StateResult => ({
  ...{ number, policy, verdict, lost, position: number, atMs: number, drawn: 'anywhere' },
  ...{ acked: 9, serverStarted: verdict !== 'corrupt', findings: [], unflushed: number % 2 },
  ...{ survived: 0, thorough: false, durationsMs: {} },
});

test('a summary counts by policy, names the worst state and bounds what was not seen', () => {
  const results = [
    state(1, 'keeps', 'safe'),
    state(2, 'drops', 'lost', 3),
    state(3, 'drops', 'lost', 5),
    state(4, 'drops', 'inconclusive'),
    state(5, 'tears', 'corrupt', 1),
  ];
  const summary = summarizeStates(results);
  expect(summary.verdict).toBe('corrupt');
  expect(summary.worst?.number).toBe(5);
  expect(summary.policies).toMatchObject([
    { policy: 'keeps', states: 1, withUnflushed: 1, lost: 0, shareBelow: boundOfNone(1) },
    { policy: 'drops', states: 3, withUnflushed: 1, lost: 2, corrupt: 0, inconclusive: 1 },
    { policy: 'tears', states: 1, corrupt: 1, notStarted: 1 },
  ]);
  expect(summary.policies[1]).not.toHaveProperty('shareBelow');
  expect(summarizeStates(results.slice(0, 4)).worst?.number).toBe(3);
  const text = describeSummary({
    ...{ ...summary, durationS: 1, states: results },
    moments: { anywhere: 10, 'at-flush': 4, 'much-unflushed': 2 },
    ...{ expected: ['safe'], asExpected: false, rebuildWorst: 'again' },
  });
  expect(text).toContain('CORRUPT (expected safe) — 3 of 5 crash states');
});

test('nothing looked at, or one state unread, is inconclusive', () => {
  expect(summarizeStates([]).verdict).toBe('inconclusive');
  const results = [state(1, 'keeps', 'safe'), state(2, 'keeps', 'inconclusive')];
  expect(summarizeStates(results).verdict).toBe('inconclusive');
  expect(summarizeStates(results.slice(0, 1)).verdict).toBe('safe');
});

test('none of n leaves room for about three in n', () => {
  expect(boundOfNone(200) * 200).toBeCloseTo(3, 1);
  expect(boundOfNone(1)).toBeCloseTo(0.95);
});
