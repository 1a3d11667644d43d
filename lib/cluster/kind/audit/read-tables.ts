/** What the audit asks of the tables in SQL, one function a question. */
import type { IndexCount, LedgerRow, TableCheck } from '../../../checkers/evidence.ts';
import { databaseName } from '../schema.ts';
import { ledgerColumns, type RowVerifier } from './row-verifier.ts';
import type { Row, SqlClient } from './sql-client.ts';
import { batchRows } from './wire.ts';

/** Every table that the workload writes. */
const tables = ['ledger', 'account'] as const;
const qualified = tables.map((table) => `${databaseName}.${table}`);

/**
 * Streams the ledger in primary key order, in batches. Resolves to the rows read; rejects with what
 * stopped it, after what was read before has been handed on.
 */
export async function streamLedger(
  client: SqlClient,
  verifier: RowVerifier,
  onRows: (rows: readonly LedgerRow[]) => Promise<void> | void,
): Promise<void> {
  let batch: LedgerRow[] = [];
  const sql = `SELECT ${ledgerColumns.join(', ')} FROM ${databaseName}.ledger FORCE INDEX (PRIMARY) ORDER BY id`;
  try {
    await client.stream(sql, (columns) => {
      batch.push(verifier.toRow(columns));
      if (batch.length < batchRows) return undefined;
      const full = batch;
      batch = [];
      return onRows(full);
    });
  } finally {
    if (batch.length > 0) await onRows(batch);
  }
}

/** Balance by account id. */
export async function readBalances(client: SqlClient): Promise<Record<number, number>> {
  const rows = await client.query(
    `SELECT id, balance FROM ${databaseName}.account FORCE INDEX (PRIMARY)`,
  );
  return Object.fromEntries(rows.map((row) => [Number(row['id']), Number(row['balance'])]));
}

/**
 * Counts rows, and sums a hash over the index's columns, by primary key and by each index. A mere
 * COUNT(*) would not do: InnoDB answers it from the primary key whatever index is forced.
 */
export async function compareIndexes(client: SqlClient): Promise<IndexCount[]> {
  const indexes = await client.query(
    'SELECT table_name AS t, index_name AS i,' +
      ' GROUP_CONCAT(column_name ORDER BY seq_in_index) AS columns' +
      ' FROM information_schema.statistics' +
      ` WHERE table_schema = '${databaseName}' AND index_name <> 'PRIMARY' GROUP BY t, i ORDER BY t, i`,
  );
  const counts: IndexCount[] = [];
  for (const { t, i, columns } of indexes) {
    const by = async (index: string): Promise<Row> => {
      const [row = {}] = await client.query(
        `SELECT COUNT(*) AS n, COALESCE(SUM(CRC32(CONCAT_WS('|', id, ${String(columns)}))), 0) AS s` +
          ` FROM ${databaseName}.${String(t)} FORCE INDEX (${index})`,
      );
      return row;
    };
    const primary = await by('PRIMARY');
    const secondary = await by(`\`${String(i)}\``);
    counts.push({
      table: String(t),
      index: String(i),
      byPrimary: Number(primary['n']),
      byIndex: Number(secondary['n']),
      valuesAgree: String(primary['s']) === String(secondary['s']),
    });
  }
  return counts;
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
