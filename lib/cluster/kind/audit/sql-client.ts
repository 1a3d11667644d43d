/** The audit's SQL connection: every statement has a time limit, since a damaged server may hang. */
import { createConnection, type Connection, type RowDataPacket } from 'mysql2';
import { EvidenceError } from '../../../errors.ts';

export type Row = Readonly<Record<string, unknown>>;

const connectTimeoutMs = 5_000;
/** One statement over a whole table of millions of rows on a slow machine. */
const statementTimeoutMs = 180_000;
/** No row for so long: the server hangs. */
const rowTimeoutMs = 60_000;

export class SqlClient {
  readonly #connection: Connection;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Rejects when nobody answers. */
  static connect(socketPath: string): Promise<SqlClient> {
    return new Promise((resolve, reject) => {
      const connection = createConnection({
        socketPath,
        user: 'root',
        connectTimeout: connectTimeoutMs,
      });
      // Stays, so that a connection that breaks between statements does not end the process.
      connection.on('error', reject);
      connection.on('connect', () => resolve(new SqlClient(connection)));
    });
  }

  /** All rows of a small result. Rejects on an error, a lost connection or after 180 s. */
  query(sql: string): Promise<readonly Row[]> {
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
   * Streams a large result, each row an array of its columns. `onRow` may return a promise: rows
   * pause until it resolves. Rejects on an error, or when no row comes for 60 s.
   */
  stream(sql: string, onRow: (columns: readonly unknown[]) => Promise<void> | void): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#limit(sql, rowTimeoutMs, reject);
      const query = this.#connection.query({ sql, rowsAsArray: true });
      query.on('result', (row: unknown) => {
        timer.refresh();
        const busy = onRow(row as readonly unknown[]);
        if (busy === undefined) return;
        this.#connection.pause();
        busy.then(() => this.#connection.resume(), reject);
      });
      const failed = (error: Error): void => {
        clearTimeout(timer);
        reject(error);
      };
      query.on('error', failed);
      // A connection that breaks within a result is not told to its query.
      this.#connection.once('error', failed);
      query.on('end', () => {
        clearTimeout(timer);
        this.#connection.off('error', failed);
        resolve();
      });
    });
  }

  /** Drops the connection without a word. */
  destroy(): void {
    this.#connection.destroy();
  }

  #limit(sql: string, timeoutMs: number, reject: (reason: Error) => void): NodeJS.Timeout {
    return setTimeout(() => {
      this.#connection.destroy();
      const why = `no answer within ${timeoutMs / 1000} s: ${sql}`;
      reject(new EvidenceError('AUDIT_STATEMENT_HUNG', why));
    }, timeoutMs);
  }
}
