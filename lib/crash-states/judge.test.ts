/** One crash state judged, and many of them summed up. */
import { expect, test } from 'vitest';
import {
  exampleLedger,
  exampleSeed,
  healthyEvidence,
  rowsOf,
} from '../../test/support/example-ledger.ts';
import { nothingRead, type ImageEvidence, type LedgerRow } from '../checkers/evidence.ts';
import { Journal } from '../checkers/journal.ts';
import { unreadBecause } from '../checkers/readability.ts';
import type { PowerLoss } from '../disk-kinds.ts';
import type { VerdictWord } from '../experiment/verdict/verdict.ts';
import { describeState, describeSummary, expectedOf, isExpected } from './describe.ts';
import { explore, type StateJudgement, type StateResult } from './explore.ts';
import { boundOfNone, summarize } from './summary.ts';

const ok = { outcome: 'ok', stored: true } as const;
const session = { client: 'inside', connection: 0, session: 0, node: 'a', ops: [ok, ok, ok] };
const { ops, entries } = exampleLedger([session]);
const rows = rowsOf(entries);
const journal = new Journal();
for (const op of ops) journal.add(op);

/** A loss of power at that time; operation n was acknowledged at (n + 1) × 10 ms. */
async function judged(
  atMs: number,
  evidence: ImageEvidence,
  found: readonly LedgerRow[] = rows,
): Promise<StateJudgement> {
  const results: StateResult[] = [];
  await explore({
    states: [{ number: 7, position: 0, atMs, policy: 'drops', drawn: 'anywhere' }],
    recovery: {
      workers: 2,
      recover: async (_, { onRows }) => {
        onRows(found);
        return { evidence, unflushed: 3, survived: 0 };
      },
    },
    journal,
    runSeed: exampleSeed,
    isThorough: () => false,
    onState: (result) => void results.push(result),
  });
  const [result] = results;
  if (result === undefined) throw new Error('no state was judged');
  return result;
}

/** A state is asked for less than an audit. */
const sound: ImageEvidence = { ...healthyEvidence(rows), innochecksum: [], tables: [] };

test('a state that has all that was acknowledged by then is safe', async () => {
  expect(await judged(25, sound)).toMatchObject({ verdict: 'safe', acked: 2, lost: 0 });
  expect(unreadBecause(sound)).toBeUndefined();
});

test('only what was acknowledged by then must be there', async () => {
  const one = rows.slice(0, 1);
  const evidence = { ...healthyEvidence(one), innochecksum: [], tables: [] };
  expect(await judged(15, evidence, one)).toMatchObject({ verdict: 'safe', acked: 1 });
  const later = await judged(35, evidence, one);
  expect(later).toMatchObject({ verdict: 'lost', acked: 3, lost: 2 });
  expect(later.findings.map(({ code }) => code)).toEqual(['LEDGER_LOST']);
  expect(later.findings[0]?.summary).toContain('state 7');
});

test('a file system that cannot be mounted has lost everything', async () => {
  const evidence = { ...nothingRead(), mountError: 'bad superblock' };
  expect(await judged(35, evidence, [])).toMatchObject({
    verdict: 'corrupt',
    lost: 3,
    serverStarted: false,
  });
});

test('what could not be read without damage is inconclusive, never safe', async () => {
  const evidence = { ...sound, failures: ['balances: timed out'] };
  expect(await judged(35, evidence)).toMatchObject({ verdict: 'inconclusive' });
});

test('where one state cannot be rebuilt, no further ones are begun', async () => {
  const begun: number[] = [];
  const recover = async ({ number }: { readonly number: number }): Promise<never> => {
    begun.push(number);
    throw new Error(`no state ${number}`);
  };
  const states = [1, 2, 3, 4].map((number) => state(number, 'keeps', 'safe'));
  const exploring = explore({
    ...{ states, journal, runSeed: exampleSeed, recovery: { workers: 2, recover } },
    ...{ isThorough: () => false, onState: () => undefined },
  });
  await expect(exploring).rejects.toThrow('no state 1');
  expect(begun).toEqual([1, 2]);
});

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
  const summary = summarize(results);
  expect(summary.verdict).toBe('corrupt');
  expect(summary.worst?.number).toBe(5);
  expect(summary.policies).toMatchObject([
    { policy: 'keeps', states: 1, withUnflushed: 1, lost: 0, shareBelow: boundOfNone(1) },
    { policy: 'drops', states: 3, withUnflushed: 1, lost: 2, corrupt: 0, inconclusive: 1 },
    { policy: 'tears', states: 1, corrupt: 1, notStarted: 1 },
  ]);
  expect(summary.policies[1]).not.toHaveProperty('shareBelow');
  expect(summarize(results.slice(0, 4)).worst?.number).toBe(3);
  const text = describeSummary({
    ...{ ...summary, durationS: 1, states: results },
    moments: { anywhere: 10, 'at-flush': 4, 'much-unflushed': 2 },
    ...{ expected: ['safe'], asExpected: false, rebuildWorst: 'again' },
  });
  expect(text).toContain('CORRUPT (expected safe) — 3 of 5 crash states');
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

test('nothing looked at, or one state unread, is inconclusive', () => {
  expect(summarize([]).verdict).toBe('inconclusive');
  const results = [state(1, 'keeps', 'safe'), state(2, 'keeps', 'inconclusive')];
  expect(summarize(results).verdict).toBe('inconclusive');
  expect(summarize(results.slice(0, 1)).verdict).toBe('safe');
});

test('none of n leaves room for about three in n', () => {
  expect(boundOfNone(200) * 200).toBeCloseTo(3, 1);
  expect(boundOfNone(1)).toBeCloseTo(0.95);
});

test('only stock settings on an honest disk promise safety', () => {
  const stock = { trxCommit: 1, flushes: 'honest' } as const;
  const whole = ['keeps', 'drops', 'reorders'] as const;
  expect(expectedOf(stock, whole)).toEqual(['safe']);
  expect(expectedOf({ ...stock, trxCommit: 2 }, whole)).toEqual(['lost']);
  expect(expectedOf({ ...stock, flushes: 'ignored' }, whole)).toEqual(['lost', 'corrupt']);
  const safe = state(1, 'keeps', 'safe');
  expect(isExpected(stock, summarize([safe, state(2, 'tears', 'corrupt')]))).toBe(true);
  expect(isExpected(stock, summarize([safe, state(2, 'tears', 'lost')]))).toBe(false);
  expect(isExpected(stock, summarize([safe, state(2, 'drops', 'corrupt')]))).toBe(false);
  expect(isExpected({ ...stock, trxCommit: 2 }, summarize([safe]))).toBe(false);
});
