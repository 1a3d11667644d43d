/** Commits of unknown outcome that were seen: their loss is a loss. */
import { expect, test } from 'vitest';
import type { Finding } from '../verdict/verdict.ts';
import type { LedgerEntry, OpOutcome } from '../../history/workload.ts';
import { bareRun } from '../../../test/support/bare-run.ts';
import {
  exampleLedger,
  exampleSeed,
  healthyEvidence,
  rowsOf,
} from '../../../test/support/example-ledger.ts';
import { judgeImages, type AuditedHistory } from './index.ts';
import { SeenCommits } from './reconcile.ts';
import { mysql } from '../../mysql/database.ts';

/** Of `outcome`, behind three acknowledged ones. */
const ledgerWith = (outcome: OpOutcome): ReturnType<typeof exampleLedger> => {
  const acked = { outcome: 'ok' as const, stored: true };
  const ops = [acked, acked, acked, { outcome, stored: true }];
  return exampleLedger([{ client: 'outside', connection: 0, session: 0, node: 'a', ops }]);
};

const last = { client: 'outside', connection: 0, session: 0, seq: 3 };
const readAt = (atMs: number): SeenCommits => {
  const seen = new SeenCommits();
  seen.add({ ...last, atMs, by: 'the inside client on a' });
  return seen;
};

interface Case {
  readonly outcome?: OpOutcome;
  readonly seen?: SeenCommits;
  readonly unreadable?: readonly number[];
  readonly isJournaled?: boolean;
}

/** Of three images, taken at 1000, 2000 and 3000 ms; each has so many of the four rows. */
function judged(
  counts: readonly number[],
  { outcome = 'info', seen = new SeenCommits(), unreadable = [], isJournaled = true }: Case = {},
): readonly Finding[] {
  const { entries, ops } = ledgerWith(outcome);
  const labels = ['steady', 'first', 'second'] as const;
  const rows = (n: number): LedgerEntry[] => entries.slice(0, counts[n]);
  const records = counts.map((_, n) => {
    const evidence = healthyEvidence(rowsOf(rows(n)));
    const ledgerComplete = !unreadable.includes(n);
    const image = labels[n] ?? 'second';
    const about = { type: 'image' as const, t: n, image, takenAtMs: (n + 1) * 1000 };
    return { ...about, evidence: { ...evidence, ledgerComplete } };
  });
  const history: AuditedHistory = {
    smallRecords: () => [bareRun(exampleSeed), ...records],
    visitOps: (visit) => (isJournaled ? ops.forEach(visit) : undefined),
    rows: (image) => rowsOf(rows(labels.indexOf(image))),
  };
  return judgeImages(history, {}, { database: mysql, seen }).findings;
}

const codes = (findings: readonly Finding[]): string[] => findings.map(({ code }) => code);

test('a commit of unknown outcome may be there or not', () => {
  expect(judged([4, 4, 4])).toEqual([]);
  expect(judged([3, 3, 3])).toEqual([]);
  expect(judged([3, 4, 4])).toEqual([]);
});

test('one that an image has is lost where a later one has it not', () => {
  const [found] = judged([3, 4, 3]);
  expect(found).toMatchObject({ code: 'LEDGER_LOST', safety: 'lost', loud: false });
  expect(found?.summary).toContain('second image: 1 commit gone that nobody acknowledged');
  expect(found?.evidence).toEqual(['outside/0/0/3: seen by the first image at 2.000 s']);
  const losses = codes(judged([4, 3, 3])).filter((code) => code === 'LEDGER_LOST');
  expect(losses).toHaveLength(2);
});

test('the image in between need not be readable', () => {
  const found = judged([4, 0, 3], { unreadable: [1] });
  expect(codes(found).filter((code) => code === 'LEDGER_LOST')).toHaveLength(1);
});

test('one that a client read is lost where no later image has it', () => {
  expect(codes(judged([3, 3, 3], { seen: readAt(1500) }))).toEqual(['LEDGER_LOST', 'LEDGER_LOST']);
  expect(judged([3, 4, 4], { seen: readAt(1500) })).toEqual([]);
  expect(judged([3, 3, 3], { seen: readAt(3500) })).toEqual([]);
});

test('a row that was read and of which no journal tells is lost, unless it is there', () => {
  const unsent = { seen: readAt(500), isJournaled: false };
  expect(codes(judged([0], unsent))).toContain('LEDGER_LOST');
  expect(codes(judged([4], unsent))).toEqual(['LEDGER_UNJOURNALED']);
});

test('an acknowledged one is counted as such, and a refused one has no row to lose', () => {
  expect(codes(judged([3], { outcome: 'ok', seen: readAt(500) }))).toEqual(['LEDGER_LOST']);
  expect(judged([3], { outcome: 'fail', seen: readAt(500) })).toEqual([]);
});
