/** Lost commits, and rows that nobody sent: what is called so, and what is not. */
import { expect, test } from 'vitest';
import { healthyEvidence } from '../../../test/support/example-ledger.ts';
import type { LostCommit } from './ledger.ts';
import { opName } from './reconcile.ts';
import {
  findingsOf,
  healthy,
  judged,
  judgedWith,
  ledger,
  rows,
} from '../../../test/support/judged-images.ts';

test('the checkers call nothing lost that the audit read and the history has not', () => {
  expect(judged({}, rows.slice(0, 20))).toEqual(['AUDIT_INCOMPLETE']);
});

test('a row that the journal lacks is no damage, and its evidence is incomplete', () => {
  const known = ledger.ops.filter(({ seq }) => seq < 20);
  expect(judgedWith([{ evidence: healthy, rows }], known)).toMatchObject([
    { code: 'LEDGER_UNJOURNALED', level: 'incomplete', safety: 'safe' },
  ]);
});

test('the checkers name each lost commit, whose it was and when', () => {
  const some = rows.slice(0, -3);
  const commits: LostCommit[] = [];
  const onLost = (commit: LostCommit): void => void commits.push(commit);
  judgedWith([{ evidence: healthyEvidence(some), rows: some }], ledger.ops, { onLost });
  const names = commits.map((commit) => [opName(commit), commit.epoch, commit.ackedAtMs]);
  expect(names).toEqual([
    ['inside/0/0/23', 'successor', 240],
    ['outside/1/0/22', 'beforeFault', 230],
    ['outside/1/0/23', 'successor', 240],
  ]);
  const [gone] = rows.slice(-1);
  expect(commits[2]).toMatchObject({ image: 'steady', node: 'a', amount: gone?.amount });
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
