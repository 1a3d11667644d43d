/** Where a client's journal has gaps, what it does not tell of is no damage of the binary log. */
import { expect, test } from 'vitest';
import type { BinlogFound } from '../evidence.ts';
import { reconcileBinlog } from '../checks.ts';
import { Journal } from '../../judge/checkers/journal.ts';

const id = { client: 'inside', connection: 0, session: 0 };
const key = 'inside/0/0';

/** Acknowledged operations of one session. */
function journalOf(...seqs: readonly number[]): Journal {
  const journal = new Journal();
  for (const seq of seqs) journal.add({ ...id, seq, outcome: 'ok', endedAtMs: seq });
  return journal;
}

const binlog = (from: number, to: number): BinlogFound => ({
  ...{ files: [], bytes: 0, transactions: 0, gtids: '', executed: '', purged: '' },
  ...{ duplicateGtids: 0, rows: { [key]: [[from, to]] }, differing: [], damage: [] },
});
const gaps = { withGaps: new Set(['inside']) };

test('the log has what the journal lacks: nobody looked its row up', () => {
  const options = { journal: journalOf(0, 3), holds: () => true };
  const logged = { ...options, holds: (_log: unknown, seq: number) => seq === 0 || seq === 3 };
  expect(reconcileBinlog(binlog(0, 3), logged).rowless.count).toBe(2);
  expect(reconcileBinlog(binlog(0, 3), { ...logged, ...gaps }).rowless.count).toBe(0);
  // What it does tell of is held to the log as before.
  expect(reconcileBinlog(binlog(0, 2), { ...logged, ...gaps }).unlogged.count).toBe(1);
});
