/** What an application would meet on a server with its grant tables: its login, its tables, its limits. */
import type { LoginFound } from '../../history/index.ts';
import { databaseName } from '../schema.ts';
import type { SqlClient } from './sql-client.ts';

/** Nothing of it stays. `seq` 1: no first document has that name. */
const writeAndUndo = [
  'BEGIN',
  `INSERT INTO ${databaseName}.document VALUES ('login', 0, 0, 1, 'x')`,
  `DELETE FROM ${databaseName}.document WHERE client = 'login'`,
  'ROLLBACK',
];
/** Every table of the workload, read as little as can be. */
const reads = ['ledger', 'account', 'document'].map(
  (table) => `SELECT 1 FROM ${databaseName}.${table} LIMIT 1`,
);
/** ER_TABLEACCESS_DENIED_ERROR, ER_DBACCESS_DENIED_ERROR. */
const denials = ['ER_TABLEACCESS_DENIED_ERROR', 'ER_DBACCESS_DENIED_ERROR'];

/**
 * Tells of a table that nobody can read, whatever the account: no matter of the login (ha_innodb.cc
 * `convert_error_code_to_mysql`, handler.cc `handler::print_error`).
 */
const ofTheTable =
  /^ER_(TABLESPACE_|TABLE_CORRUPT|INDEX_CORRUPT|CRASHED_|NOT_KEYFILE|GET_ERRNO|CANT_OPEN_FILE|FILE_)/;

/**
 * `client` has logged in as the ordinary client. Rejects where the server does not answer, or answers
 * that a table is broken.
 */
export async function checkLogin(client: SqlClient): Promise<LoginFound> {
  for (const sql of [...reads, ...writeAndUndo]) {
    const refused = await answerOf(client, sql);
    if (refused !== undefined) return { refused: `${sql}: ${refused.message}` };
  }
  const denied = await answerOf(client, 'SELECT 1 FROM mysql.user LIMIT 1');
  if (denied?.code !== undefined && denials.includes(denied.code)) return {};
  return { unlimited: `it may read mysql.user: ${denied?.message ?? 'and was answered'}` };
}

/** The server's refusal; undefined where it did as asked. */
async function answerOf(
  client: SqlClient,
  sql: string,
): Promise<{ readonly code: string; readonly message: string } | undefined> {
  try {
    await client.query(sql);
    return undefined;
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined || ofTheTable.test(refusal.code)) throw error;
    return refusal;
  }
}

/** Words of an error that a server has answered with; undefined for all others. */
export function refusalOf(
  error: unknown,
): { readonly code: string; readonly message: string } | undefined {
  const { code, sqlState, message } = error as Record<string, unknown>;
  // Only an error packet has an SQL state; without one nobody answered.
  if (typeof code !== 'string' || typeof sqlState !== 'string') return undefined;
  return { code, message: `${code}: ${String(message)}` };
}
