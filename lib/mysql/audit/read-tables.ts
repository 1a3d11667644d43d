/** What the audit asks of the tables in SQL, one function a question; and the one pass over the ledger. */
import { type LedgerRow, workloadTables } from '../../history/index.ts';
import { batchRows } from '../../storage/index.ts';
import type { TableCheck } from '../evidence.ts';
import { databaseName } from '../schema.ts';
import { indexesOf, IndexMix, type IndexMixes } from './index-sums.ts';
import { ledgerColumns, type RowVerifier } from './row-verifier.ts';
import type { SqlClient } from './sql-client.ts';

const qualified = workloadTables.map((table) => `${databaseName}.${table}`);

/** Balance by account id. */
export async function readBalances(client: SqlClient): Promise<Record<number, number>> {
  const rows = await client.query(
    `SELECT id, balance FROM ${databaseName}.account FORCE INDEX (PRIMARY)`,
  );
  return Object.fromEntries(rows.map((row) => [Number(row['id']), Number(row['balance'])]));
}

/** CHECKSUM TABLE of every table of the workload, by qualified name; `NULL` where unreadable. */
export async function checksums(client: SqlClient): Promise<Map<string, string>> {
  const rows = await client.query(`CHECKSUM TABLE ${qualified.join(', ')}`);
  return new Map(
    rows.map((row) => {
      const { Table: table, Checksum: checksum } = row;
      return [String(table), checksum === null ? 'NULL' : String(Number(checksum))];
    }),
  );
}

/** Every table that can be checked, the workload's own first. */
export async function tablesToCheck(client: SqlClient): Promise<string[]> {
  const rows = await client.query(
    "SELECT CONCAT('`', table_schema, '`.`', table_name, '`') AS t FROM information_schema.tables" +
      " WHERE table_type = 'BASE TABLE'" +
      " AND table_schema NOT IN ('information_schema', 'performance_schema')" +
      ` ORDER BY table_schema <> '${databaseName}', t`,
  );
  return rows.map((row) => String(row['t']));
}

/** CHECK TABLE … EXTENDED. It may crash the server. */
export async function checkTable(client: SqlClient, quoted: string): Promise<TableCheck> {
  const rows = await client.query(`CHECK TABLE ${quoted} EXTENDED`);
  const complaints = rows.filter(
    (row) => row['Msg_text'] !== 'OK' && String(row['Msg_type']).toLowerCase() !== 'note',
  );
  const check = complaints.map((row) => `${String(row['Msg_type'])}: ${String(row['Msg_text'])}`);
  const table = quoted.replaceAll('`', '');
  return { table, check: check.length === 0 ? 'OK' : check.join('; ') };
}

const sql =
  `SELECT ${ledgerColumns.join(', ')}` +
  ` FROM ${databaseName}.ledger FORCE INDEX (PRIMARY) ORDER BY id`;

/**
 * By its primary key, for the check of every row and the comparison with the indexes.
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
