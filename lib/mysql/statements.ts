/**
 * The SQL of the workload's operations, but for the insert, which has a file of its own. Each is one
 * message to the server and one transaction: a lost answer can always mean a commit.
 */
import type { LedgerEntry, OpId } from '../history/index.ts';
import { insertStatement } from './insert.ts';
import { schemaChange } from './schema.ts';

export interface Statement {
  readonly sql: string;
  readonly values: readonly (string | number | Buffer)[];
}

export function transferStatement(entry: LedgerEntry): Statement {
  const { fromAccount, toAccount, amount } = entry;
  return withRow(entry, {
    sql: 'UPDATE account SET balance = balance + IF(id = ?, -?, ?) WHERE id IN (?, ?)',
    values: [fromAccount, amount, amount, fromAccount, toAccount],
  });
}

export const putStatement = (entry: LedgerEntry, body: Buffer): Statement =>
  withRow(entry, {
    sql: 'INSERT INTO document (client, connection, session, seq, body) VALUES (?, ?, ?, ?, ?)',
    values: [...nameOf(entry), body],
  });

export const removeStatement = (entry: LedgerEntry, document: OpId): Statement =>
  withRow(entry, {
    sql: 'DELETE FROM document WHERE client = ? AND connection = ? AND session = ? AND seq = ?',
    values: nameOf(document),
  });

export const schemaChangeStatement: Statement = { sql: schemaChange, values: [] };

/** The pod gives mysqld its node and UID as report-host and report-user (manifests). */
export const identify =
  'SELECT @@report_host AS node, @@report_user AS podUid, UNIX_TIMESTAMP() AS nowS; ' +
  "SHOW GLOBAL STATUS LIKE 'Uptime'";

export const newestRow =
  'SELECT client, connection, session, seq FROM ledger ORDER BY id DESC LIMIT 1';

const nameOf = ({ client, connection, session, seq }: OpId): (string | number)[] => [
  client,
  connection,
  session,
  seq,
];

const withRow = (entry: LedgerEntry, { sql, values }: Statement): Statement => ({
  sql: `BEGIN; ${insertStatement}; ${sql}; COMMIT`,
  values: [...parameters(entry), ...values],
});

export const parameters = (entry: LedgerEntry): (string | number | Buffer)[] => [
  ...nameOf(entry),
  entry.kind,
  entry.fromAccount,
  entry.toAccount,
  entry.amount,
  Buffer.from(entry.previousHash, 'hex'),
  Buffer.from(entry.hash, 'hex'),
];
