import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LedgerEntry, type OpId, type OpOutcome, sessionKey } from '../../history/workload.ts';
import { journalOf, reconcile } from '../../../test/support/reconciling.ts';
import { exampleLedger } from '../../../test/support/example-ledger.ts';
import type { LedgerRow } from '../../history/evidence.ts';
import { opName, type Reconciliation } from './reconcile.ts';

const client = 'outside';

const sessionScript = fc
  .array(fc.constantFrom<OpOutcome>('ok', 'ok', 'ok', 'fail'), { minLength: 1, maxLength: 40 })
  .chain((outcomes) =>
    fc.record({ outcomes: fc.constant(outcomes), ending: fc.constantFrom('none', 'in', 'out') }),
  )
  .map(({ outcomes, ending }) => [
    ...outcomes.map((outcome) => ({ outcome, stored: outcome === 'ok' })),
    ...(ending === 'none' ? [] : [{ outcome: 'info' as const, stored: ending === 'in' }]),
  ]);

test('finds exactly the damage that was planted in a random history', () => {
  const damage = fc.constantFrom('lose', 'double', 'tear', 'none', 'none', 'none');
  const histories = fc.record({
    scripts: fc.array(sessionScript, { minLength: 1, maxLength: 4 }),
    damages: fc.infiniteStream(damage),
    turns: fc.infiniteStream(fc.nat(3)),
    phantomSeq: fc.option(fc.integer({ min: 100, max: 1000 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(histories, ({ scripts, damages, turns, phantomSeq }) => {
      const ledger = exampleLedger(
        scripts.map((ops, n) => ({ client, connection: n, session: n % 2, node: 'a', ops })),
      );
      const outcomes = new Map(ledger.ops.map((op) => [opName(op), op.outcome]));
      const planted = {
        lose: new Set<string>(),
        double: new Set<string>(),
        tear: new Set<string>(),
      };
      const rows: LedgerRow[] = [];
      for (const entry of inTurns(ledger.entries, turns)) {
        const { value } = damages.next();
        const acknowledged = outcomes.get(opName(entry)) === 'ok';
        const { previousHash: _p, hash: _h, ...operation } = entry;
        const row = { id: 0, ...operation, hashFits: true, linkFits: true };
        if (value === 'lose' && acknowledged) {
          planted.lose.add(opName(entry));
          continue;
        }
        if (value === 'tear') planted.tear.add(opName(entry));
        rows.push(value === 'tear' ? { ...row, amount: row.amount + 1 } : row);
        if (value === 'double') {
          planted.double.add(opName(entry));
          rows.push(row);
        }
      }
      if (phantomSeq !== undefined) rows.push(phantom(rows, phantomSeq));
      const found = reconcile(journalOf(ledger.ops), rows).result();

      const names = (ops: readonly OpId[]): Set<string> => new Set(ops.map(opName));
      expect(lostNames(found, outcomes)).toEqual(planted.lose);
      expect(found.lost).toBe(planted.lose.size);
      expect(names(found.duplicates.ops)).toEqual(planted.double);
      expect(names(found.torn.ops)).toEqual(planted.tear);
      expect(found.phantoms.count).toBe(phantomSeq === undefined ? 0 : 1);
      expect(found.brokenLinks.count + found.outOfOrder.count).toBe(0);
    }),
    { numRuns: 300 },
  );
});

/**
 * Sessions mixed at will: ids of different ones need not follow the order in which they were acknowledged, as
 * AUTO_INCREMENT numbers are given at the insert (docs/how-to/isolation.md).
 */
function* inTurns(
  entries: readonly LedgerEntry[],
  turns: Iterator<number>,
): Generator<LedgerEntry> {
  const queues = [...Map.groupBy(entries, sessionKey).values()].map((each) => [...each]);
  while (queues.some(({ length }) => length > 0)) {
    const next = queues[turns.next().value % queues.length]?.shift();
    if (next !== undefined) yield next;
  }
}

function phantom(rows: readonly LedgerRow[], seq: number): LedgerRow {
  const like = rows[0] ?? { client, connection: 0, session: 0 };
  return {
    ...{ id: 0, client: like.client, connection: like.connection, session: like.session, seq },
    ...{ kind: 'append', fromAccount: 1, toAccount: 1, amount: 0, hashFits: true, linkFits: true },
  };
}

/** The ranges name each lost operation, and no other acknowledged one. */
function lostNames(
  { lostRanges }: Reconciliation,
  outcomes: ReadonlyMap<string, OpOutcome>,
): Set<string> {
  const names = new Set<string>();
  for (const { fromSeq, toSeq, ...session } of lostRanges) {
    for (let seq = fromSeq; seq <= toSeq; seq++) {
      const name = opName({ ...session, seq });
      if (outcomes.get(name) === 'ok') names.add(name);
    }
  }
  return names;
}
