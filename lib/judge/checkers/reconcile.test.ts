import { describe, expect, test } from 'vitest';
import { deletionOf, type LedgerEntry, type OpOutcome } from '../../history/workload.ts';
import { always, journalOf, reconcile } from '../../../test/support/reconciling.ts';
import {
  endOfMs,
  exampleLedger,
  exampleSeed,
  rowsOf,
} from '../../../test/support/example-ledger.ts';
import type { JournaledOp } from './journal.ts';
import { Reconciler, type Reconciliation, reconcileDocuments } from './reconcile.ts';
import type { Unread } from '../../history/evidence.ts';

const client = 'outside';

const acked = (count: number): { outcome: OpOutcome; stored: boolean }[] =>
  Array.from({ length: count }, () => ({ outcome: 'ok', stored: true }));

const oneSession = (count: number): ReturnType<typeof exampleLedger> =>
  exampleLedger([{ client, connection: 0, session: 0, node: 'a', ops: acked(count) }]);

function judged(
  entries: readonly LedgerEntry[],
  ops: readonly JournaledOp[],
  unread?: Unread,
): Reconciliation {
  return reconcile(journalOf(ops), rowsOf(entries)).result(unread);
}

const noFaults = {
  phantoms: { count: 0 },
  failedPresent: { count: 0 },
  duplicates: { count: 0 },
  torn: { count: 0 },
  brokenLinks: { count: 0 },
  outOfOrder: { count: 0 },
  resurrected: { count: 0 },
};

describe('a ledger against its journal', () => {
  test('need not hold what was acknowledged after it was taken', () => {
    const { entries, ops } = oneSession(10);
    const early = reconcile(journalOf(ops), rowsOf(entries.slice(0, 6)), endOfMs(5)).result();
    expect(early).toMatchObject({ acked: 6, lost: 0 });
    const late = reconcile(journalOf(ops), rowsOf(entries.slice(0, 6)), endOfMs(6)).result();
    expect(late).toMatchObject({ acked: 7, lost: 1, lostAreTails: true });
  });

  test('a row that only its client can have made is missing in the journal, and no phantom', () => {
    const { entries, ops } = oneSession(4);
    const reconciler = new Reconciler({
      ...{ journal: journalOf(ops.filter(({ seq }) => seq < 2)), seed: exampleSeed },
      takenAtMs: always,
    });
    const [first, ...rest] = rowsOf(entries).slice(2);
    for (const row of rest) reconciler.row(row);
    if (first !== undefined) reconciler.row({ ...first, amount: first.amount + 1 });
    const { phantoms, unjournaled } = reconciler.result();
    expect([phantoms.count, unjournaled.count]).toEqual([1, 1]);
    expect([...reconciler.incomplete]).toEqual([client]);
  });

  test('a row that does not fit its hash is a phantom', () => {
    const [row] = rowsOf(oneSession(1).entries);
    const options = { journal: journalOf([]), seed: exampleSeed, takenAtMs: always };
    const reconciler = new Reconciler(options);
    if (row !== undefined) reconciler.row({ ...row, hashFits: false });
    expect(reconciler.result().phantoms.count).toBe(1);
  });

  test('takes an operation whose outcome was never journaled as unknown', () => {
    const { entries, ops } = oneSession(2);
    const [first, { endedAtMs: _, ...second } = { endedAtMs: 0 }] = ops;
    const unended = [first, second as JournaledOp].filter((op) => op !== undefined);
    expect(judged(entries, unended)).toMatchObject({ acked: 1, lost: 0 });
  });

  test('finds a row of an operation that the server had refused', () => {
    const ops = [...acked(1), { outcome: 'fail' as const, stored: true }, ...acked(1)];
    const ledger = exampleLedger([{ client, connection: 0, session: 0, node: 'a', ops }]);
    const found = judged(ledger.entries, ledger.ops);
    expect(found.failedPresent.ops).toEqual([{ client, connection: 0, session: 0, seq: 1 }]);
    expect(found.phantoms.count).toBe(0);
  });

  test('parts losses by who acknowledged them and when', () => {
    const ledger = exampleLedger([
      { client, connection: 0, session: 0, node: 'a', ops: acked(30) },
      { client, connection: 1, session: 0, node: 'b', ops: acked(30) },
    ]);
    const moments = { faultAtMs: endOfMs(10), handoverAtMs: endOfMs(20), victimNode: 'a' };
    const found = reconcile(journalOf(ledger.ops, moments), []).result();
    expect(found.byEpoch).toEqual({
      beforeFault: { acked: 20, lost: 20 },
      victimBeforeHandover: { acked: 10, lost: 10 },
      victimAfterHandover: { acked: 10, lost: 10 },
      successor: { acked: 20, lost: 20 },
    });
  });

  test('tells a lost row, which nothing can link to, from a broken chain', () => {
    const { entries, ops } = oneSession(6);
    const gap = judged(entries.toSpliced(2, 1), ops);
    expect(gap).toMatchObject({ ...noFaults, lost: 1, lostAreTails: false });
    const broken = rowsOf(entries).map((row) =>
      row.seq === 3 ? { ...row, linkFits: false } : row,
    );
    const found = reconcile(journalOf(ops), broken).result();
    expect(found.brokenLinks.ops).toMatchObject([{ seq: 3 }]);
    expect(found.lost).toBe(0);
  });

  test('tells what vanished since the image before, and what came back', () => {
    const { entries, ops } = oneSession(6);
    const journal = journalOf(ops);
    const first = reconcile(journal, rowsOf(entries.slice(0, 4)), endOfMs(4));
    const second = reconcile(journal, rowsOf(entries.slice(2)), always, first).result();
    expect(first.result()).toMatchObject({ acked: 5, lost: 1 });
    expect(second).toMatchObject({ acked: 6, lost: 2, lostSince: 2 });
    expect(second.resurrected.ops).toMatchObject([{ seq: 4 }]);
  });

  test('counts what could not be read as lost only where damage forbade it', () => {
    const { entries, ops } = oneSession(5);
    const some = entries.slice(0, 2);
    expect(judged(some, ops, 'damage')).toMatchObject({ unread: 'damage', present: 2, lost: 3 });
    expect(judged(some, ops, 'gap')).toMatchObject({ unread: 'gap', present: 2, lost: 0 });
  });
});

test('a document may be deleted by what the journal lacks', () => {
  const id = { client: 'inside', connection: 0, session: 0 };
  const put = 2;
  const deletion = deletionOf(put) ?? 0;
  const missing = (sent: readonly number[], withGaps: readonly string[] = []): number => {
    const journal = journalOf(sent.map((seq) => ({ ...id, seq, outcome: 'ok', endedAtMs: seq })));
    const holds = (_log: unknown, seq: number): boolean => seq === put;
    const options = { journal, takenAtMs: 1000, holds, withGaps: new Set(withGaps) };
    const { ops } = reconcileDocuments({ found: {}, torn: [] }, options).missing;
    return ops.filter(({ client }) => client === id.client).length;
  };
  expect(missing([put])).toBe(1);
  expect(missing([put], ['inside'])).toBe(0);
  // It was sent, and its row is not there: the document must be.
  expect(missing([put, deletion], ['inside'])).toBe(1);
});
