/** Where a client's journal has gaps, what it does not tell of is no damage of documents. */
import { expect, test } from 'vitest';
import { deletionOf } from '../../history/workload.ts';
import { Journal } from './journal.ts';
import { reconcileDocuments } from './reconcile.ts';

const id = { client: 'inside', connection: 0, session: 0 };

/** Acknowledged operations of one session. */
function journalOf(...seqs: readonly number[]): Journal {
  const journal = new Journal();
  for (const seq of seqs) journal.add({ ...id, seq, outcome: 'ok', endedAtMs: seq });
  return journal;
}

const gaps = { withGaps: new Set(['inside']) };

test('a document may be deleted by what the journal lacks', () => {
  const put = 2;
  const deletion = deletionOf(put) ?? 0;
  const missing = (sent: readonly number[], more: object = {}): number =>
    reconcileDocuments(
      { found: {}, torn: [] },
      {
        ...{ journal: journalOf(...sent), takenAtMs: 1000 },
        holds: (_log, seq) => seq === put,
        ...more,
      },
    ).missing.ops.filter(({ client }) => client === 'inside').length;
  expect(missing([put])).toBe(1);
  expect(missing([put], gaps)).toBe(0);
  // It was sent, and its row is not there: the document must be.
  expect(missing([put, deletion], gaps)).toBe(1);
});
