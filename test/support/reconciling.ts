/** A journal of given operations, and what an image's rows are beside it. */
import type { LedgerRow } from '../../lib/history/evidence.ts';
import { Journal, type JournaledOp, type EpochBounds } from '../../lib/judge/checkers/journal.ts';
import { Reconciler } from '../../lib/judge/checkers/reconcile.ts';
import { exampleSeed } from './example-ledger.ts';

export const always = Number.POSITIVE_INFINITY;

export function journalOf(ops: readonly JournaledOp[], moments: EpochBounds = {}): Journal {
  const journal = new Journal(moments);
  for (const op of ops) journal.add(op);
  return journal;
}

export function reconcile(
  journal: Journal,
  rows: readonly LedgerRow[],
  takenAtMs = always,
  before?: Reconciler,
): Reconciler {
  const options = { journal, seed: exampleSeed, takenAtMs };
  const reconciler = new Reconciler(before === undefined ? options : { ...options, before });
  for (const row of rows) reconciler.row(row);
  return reconciler;
}
