/** What MySQL's isolation allows is no damage: docs/how-to/isolation.md. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LedgerEntry } from '../../history/workload.ts';
import { bareRun } from '../../../test/support/bare-run.ts';
import {
  exampleLedger,
  exampleSeed,
  healthyEvidence,
  rowsOf,
} from '../../../test/support/example-ledger.ts';
import { judgeImages } from './index.ts';
import type { JournaledOp } from './journal.ts';
import { mysql } from '../../mysql/database.ts';

const acked = Array.from({ length: 12 }, () => ({ outcome: 'ok' as const, stored: true }));
const sessions = [0, 1, 2, 3].map((connection) => ({
  ...{ client: connection % 2 === 0 ? 'inside' : 'outside', connection, session: 0, node: 'a' },
  ops: acked,
}));
const { entries, ops } = exampleLedger(sessions);

function codes(
  stored: readonly LedgerEntry[],
  journal: readonly JournaledOp[] = ops,
  idOf = (position: number): number => position + 1,
): string[] {
  const rows = rowsOf(stored).map((row, position) => ({ ...row, id: idOf(position) }));
  const evidence = healthyEvidence(rows);
  const image = {
    type: 'image' as const,
    t: 1,
    image: 'first' as const,
    takenAtMs: 1001,
    evidence,
  };
  const history = {
    smallRecords: () => [bareRun(exampleSeed), image],
    visitOps: (visit: (op: JournaledOp) => void) => journal.forEach(visit),
    rows: () => rows,
  };
  return judgeImages(history, {}, { database: mysql }).findings.map(({ code }) => code);
}

test('ids of different sessions need not follow the order in which they were acknowledged', () => {
  // AUTO_INCREMENT numbers are given at the insert, and commits of others may overtake it.
  const turns = fc.shuffledSubarray(
    entries.map((_, n) => n),
    { minLength: entries.length },
  );
  fc.assert(
    fc.property(turns, (order) => {
      const queues = sessions.map(({ connection }) =>
        entries.filter((entry) => entry.connection === connection),
      );
      const mixed = order.flatMap((n) => queues[n % queues.length]?.shift() ?? []);
      const rest = queues.flat();
      expect(codes([...mixed, ...rest])).toEqual([]);
    }),
    { numRuns: 50 },
  );
});
