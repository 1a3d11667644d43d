/**
 * One pass over the ledger by its primary key, which serves the check of every row and the
 * comparison with the indexes.
 */
import type { LedgerRow } from '../../../checkers/evidence.ts';
import { databaseName } from '../schema.ts';
import { indexesOf, ValueSum, type ValueSums } from './index-sums.ts';
import { ledgerText, type RowVerifier } from './row-verifier.ts';
import type { SqlClient } from './sql-client.ts';
import { batchRows } from './wire.ts';

const indexes = indexesOf('ledger');
const columns = [ledgerText, ...indexes.map(({ rowValue }) => rowValue)].join(', ');
const sql = `SELECT ${columns} FROM ${databaseName}.ledger FORCE INDEX (PRIMARY) ORDER BY id`;

/**
 * Streams the ledger in batches. Resolves to what the table itself says of each of its indexes;
 * rejects with what stopped it, after what was read before has been handed on.
 */
export async function streamLedger(
  client: SqlClient,
  verifier: RowVerifier,
  onRows: (rows: readonly LedgerRow[]) => Promise<void> | void,
): Promise<ValueSums> {
  const sums = indexes.map(() => new ValueSum());
  let batch: LedgerRow[] = [];
  try {
    await client.stream(sql, (row) => {
      batch.push(verifier.toRow(row[0] as string));
      for (let n = 0; n < sums.length; n++) sums[n]?.add(row[n + 1] as number);
      if (batch.length < batchRows) return undefined;
      const full = batch;
      batch = [];
      return onRows(full);
    });
  } finally {
    if (batch.length > 0) await onRows(batch);
  }
  return new Map(indexes.map(({ name }, n) => [name, sums[n]?.result() ?? { rows: 0, sum: '0' }]));
}
