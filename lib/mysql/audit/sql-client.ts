/** The audit's SQL connection: every statement has a time limit, since a damaged server may hang; and what a login meets. */
import { createConnection, type Connection, type RowDataPacket } from 'mysql2';
import { EvidenceError } from '../../core/index.ts';
import type { LoginFound } from '../../history/index.ts';
import { databaseName } from '../tables.ts';

export type SqlRow = Readonly<Record<string, unknown>>;

export interface Account {
  readonly user: string;
  readonly password?: string;
}

type OnPacket = (bytes: Buffer, start: number) => Promise<void> | void;

const connectTimeoutMs = 5_000;
/** One statement over a whole table of millions of rows on a slow machine. */
const statementTimeoutMs = 180_000;
/** No row for so long: the server hangs. */
const rowTimeoutMs = 60_000;

export class SqlClient {
  readonly #connection: Connection;
  readonly #another: () => Promise<SqlClient>;

  private constructor(connection: Connection, another: () => Promise<SqlClient>) {
    this.#connection = connection;
    this.#another = another;
  }

  /** Rejects when nobody answers, or the login is refused. Default: as root, without a password. */
  static connect(socketPath: string, account: Account = { user: 'root' }): Promise<SqlClient> {
    return new Promise((resolve, reject) => {
      const connection = createConnection({
        socketPath,
        ...account,
        connectTimeout: connectTimeoutMs,
      });
      // Stays, so that a connection that breaks between statements does not end the process.
      connection.on('error', reject);
      const another = (): Promise<SqlClient> => SqlClient.connect(socketPath, account);
      connection.on('connect', () => resolve(new SqlClient(connection, another)));
    });
  }

  /** All rows of a small result. Rejects on an error, a lost connection or after 180 s. */
  query(sql: string): Promise<readonly SqlRow[]> {
    return new Promise((resolve, reject) => {
      const timer = this.#limit(sql, statementTimeoutMs, reject);
      this.#connection.query<RowDataPacket[]>(sql, (error, rows) => {
        clearTimeout(timer);
        if (error === null) resolve(rows);
        else reject(error);
      });
    });
  }

  /**
   * Streams a large result; `onRow` gets each row's packet, its columns from `start` on, and must be
   * done with the bytes when it returns. It may return a promise: rows pause until it resolves.
   * Rejects on an error, or when no row came for 60 s.
   */
  stream(sql: string, onRow: OnPacket): Promise<void> {
    return new Promise((resolve, reject) => {
      const connection = this.#connection;
      let rows = 0;
      const timer = this.#watch(sql, () => rows, reject);
      const failed = (error: Error): void => {
        clearInterval(timer);
        reject(error);
      };
      const query = connection.query({ sql, rowsAsArray: true });
      takePackets(query, (bytes, start) => {
        rows += 1;
        let busy: Promise<void> | void;
        try {
          busy = onRow(bytes, start);
        } catch (error) {
          failed(error as Error);
          // Tells mysql2 to give the connection up.
          throw error;
        }
        if (busy === undefined) return;
        connection.pause();
        busy.then(() => connection.resume(), failed);
      });
      query.on('error', failed);
      // A connection that breaks within a result is not told to its query.
      connection.once('error', failed);
      query.on('end', () => {
        clearInterval(timer);
        connection.off('error', failed);
        resolve();
      });
    });
  }

  /** Does work that may go on beside this one's, on a connection of its own. Rejects as `connect` does. */
  async beside<T>(work: (client: SqlClient) => Promise<T>): Promise<T> {
    const another = await this.#another();
    try {
      return await work(another);
    } finally {
      another.destroy();
    }
  }

  /** Drops the connection without a word. */
  destroy(): void {
    this.#connection.destroy();
  }

  #limit(sql: string, timeoutMs: number, reject: (reason: Error) => void): NodeJS.Timeout {
    return setTimeout(() => this.#giveUp(sql, timeoutMs, reject), timeoutMs);
  }

  /** Gives up where from one look to the next there was no row more. */
  #watch(sql: string, rows: () => number, reject: (reason: Error) => void): NodeJS.Timeout {
    let before = -1;
    const timer = setInterval(() => {
      if (rows() === before) {
        clearInterval(timer);
        this.#giveUp(sql, rowTimeoutMs, reject);
      }
      before = rows();
    }, rowTimeoutMs);
    return timer;
  }

  #giveUp(sql: string, timeoutMs: number, reject: (reason: Error) => void): void {
    this.#connection.destroy();
    const why = `no answer within ${timeoutMs / 1000} s: ${sql}`;
    reject(new EvidenceError('AUDIT_STATEMENT_HUNG', why));
  }
}

/** What mysql2 calls with each packet of a result (lib/commands/query.js); the last is its end. */
interface PacketReader {
  row(packet: Packet, connection: unknown): unknown;
}

interface Packet {
  readonly buffer: Buffer;
  readonly offset: number;
  isEOF(): boolean;
}

/** mysql2 has no option to make nothing of a row. */
function takePackets(query: unknown, onRow: (bytes: Buffer, start: number) => void): void {
  const reader = query as PacketReader;
  const ownRow = reader.row.bind(reader);
  reader.row = function takeRow(packet, connection) {
    if (packet.isEOF()) return ownRow(packet, connection);
    onRow(packet.buffer, packet.offset);
    return takeRow;
  };
}

/** Nothing of it stays. `seq` 1: no first document has that name. */
const writeAndUndo = [
  'BEGIN',
  `INSERT INTO ${databaseName}.document VALUES ('login', 0, 0, 1, 'x')`,
  `DELETE FROM ${databaseName}.document WHERE client = 'login'`,
  'ROLLBACK',
];
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
  if (denied === undefined) return { unlimited: 'it may read mysql.user' };
  // Any other error is no answer.
  return denials.includes(denied.code) ? {} : { refused: denied.message };
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
