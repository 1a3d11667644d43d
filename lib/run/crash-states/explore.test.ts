import { expect, test } from 'vitest';
import {
  exampleLedger,
  exampleSeed,
  healthyEvidence,
  rowsOf,
} from '../../../test/support/example-ledger.ts';
import { nothingRead, type ImageEvidence, type LedgerRow } from '../../history/evidence.ts';
import { Journal } from '../../judge/checkers/journal.ts';
import { unreadBecause } from '../../judge/checkers/server.ts';
import type { PowerLoss } from '../../scenario/disk-kinds.ts';
import type { VerdictWord } from '../../judge/verdict/verdict.ts';
import { explore, type StateResult } from './explore.ts';
import { mysql } from '../../mysql/database.ts';
import type { MysqlImage } from '../../mysql/evidence.ts';

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
): Promise<StateResult> {
  const results: StateResult[] = [];
  await explore({
    database: mysql,
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
const sound: MysqlImage = { ...healthyEvidence(rows), innochecksum: [], tables: [] };

test('a state that has all that was acknowledged by then is safe', async () => {
  expect(await judged(25, sound)).toMatchObject({ verdict: 'safe', acked: 2, lost: 0 });
  expect(unreadBecause(sound, mysql.log)).toBeUndefined();
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
  const evidence = { ...nothingRead(), mountError: 'mount: Structure needs cleaning.' };
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
    database: mysql,
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
