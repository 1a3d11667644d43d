/**
 * One pass over the ledger by its primary key, which serves the check of every row and the
 * comparison with the indexes.
 */
import type { LedgerRow } from '../../checkers/evidence.ts';
import { databaseName } from '../schema.ts';
import { IndexMix, indexesOf, type IndexMixes } from './index-sums.ts';
import { ledgerColumns, type RowVerifier } from './row-verifier.ts';
import type { SqlClient } from './sql-client.ts';
import { batchRows } from '../../database/audit/wire.ts';

const sql =
  `SELECT ${ledgerColumns.join(', ')}` +
  ` FROM ${databaseName}.ledger FORCE INDEX (PRIMARY) ORDER BY id`;

/**
 * Streams the ledger in batches. Resolves to what the table itself says of each of its indexes;
 * rejects with what stopped it, after what was read before has been handed on.
 */
export async function streamLedger(
  client: SqlClient,
  verifier: RowVerifier,
  onRows: (rows: readonly LedgerRow[]) => Promise<void> | void,
): Promise<IndexMixes> {
  const mixes = new Map(indexesOf('ledger').map((index) => [index.name, new IndexMix(index)]));
  const [...all] = mixes.values();
  // Bytes as they are stored; else MySQL turns each text into the client's character set.
  await client.query('SET character_set_results = NULL');
  let batch: LedgerRow[] = [];
  try {
    await client.stream(sql, (bytes, start) => {
      const row = verifier.toRow(bytes, start);
      for (const mix of all) mix.add(row);
      batch.push(row);
      if (batch.length < batchRows) return undefined;
      const full = batch;
      batch = [];
      return onRows(full);
    });
  } finally {
    if (batch.length > 0) await onRows(batch);
  }
  return new Map([...mixes].map(([name, mix]) => [name, mix.result()]));
}
