/** Lost commits, and rows that nobody sent: what is called so, and what is not. */
import { expect, test } from 'vitest';
import { bareRun } from '../../../test/support/bare-run.ts';
import { exampleSeed, healthyEvidence } from '../../../test/support/example-ledger.ts';
import { judgeImages, type AuditedHistory } from './index.ts';
import type { LostCommit } from './ledger.ts';
import { opName } from './reconcile.ts';
import { findingsOf, healthy, judged, ledger, rows } from '../../../test/support/judged-images.ts';
import { mysql } from '../../mysql/database.ts';

test('the checkers call nothing lost that the audit read and the history has not', () => {
  expect(judged({}, rows.slice(0, 20))).toEqual(['AUDIT_INCOMPLETE']);
});

test('a row that the journal lacks is no damage, and its evidence is incomplete', () => {
  const known = ledger.ops.filter(({ seq }) => seq < 20);
  const image = { type: 'image' as const, t: 1, image: 'first' as const, takenAtMs: 1001 };
  const history: AuditedHistory = {
    smallRecords: () => [bareRun(exampleSeed), { ...image, evidence: healthy }],
    visitOps: (visit) => known.forEach(visit),
    rows: () => rows,
  };
  const { findings } = judgeImages(history, {}, { database: mysql });
  expect(findings.map(({ code, level, safety }) => [code, level, safety])).toEqual([
    ['LEDGER_UNJOURNALED', 'incomplete', 'safe'],
  ]);
});

test('the checkers name each lost commit, whose it was and when', () => {
  const evidence = healthyEvidence(rows.slice(0, -3));
  const commits: LostCommit[] = [];
  const image = { type: 'image' as const, t: 1, image: 'first' as const, takenAtMs: 1001 };
  const history: AuditedHistory = {
    smallRecords: () => [bareRun(exampleSeed), { ...image, evidence }],
    visitOps: (visit) => ledger.ops.forEach(visit),
    rows: () => rows.slice(0, -3),
  };
  judgeImages(
    history,
    { faultAtMs: 235 },
    { database: mysql, onLost: (commit) => commits.push(commit) },
  );
  const names = commits.map((commit) => [opName(commit), commit.epoch, commit.ackedAtMs]);
  expect(names).toEqual([
    ['inside/0/0/23', 'successor', 240],
    ['outside/1/0/22', 'beforeFault', 230],
    ['outside/1/0/23', 'successor', 240],
  ]);
  const [gone] = rows.slice(-1);
  expect(commits[2]).toMatchObject({ image: 'first', node: 'a', amount: gone?.amount });
});

test('the checkers call nothing resurrected against an image that could not be read', () => {
  const unreadable = {
    ...healthy,
    starts: healthy.starts.map((start) => ({ ...start, ready: false, died: 'SIGSEGV' })),
    ledgerComplete: false,
    ledgerRows: 0,
  };
  const found = findingsOf({ evidence: unreadable, rows: [] }, { evidence: healthy, rows });
  const codes = found.map(({ code }) => code);
  expect(codes).toContain('LEDGER_UNREADABLE');
  expect(codes).not.toContain('LEDGER_RESURRECTED');
});
