/** The SQL port on MySQL, through a relay's UNIX socket: one connection, one operation at a time, each with the client's own timeout. */
import { connect, type Socket } from 'node:net';
import {
  type QueryError,
  createConnection,
  type Connection,
  type PrepareStatementInfo,
  type RowDataPacket,
} from 'mysql2';
import {
  SqlError,
  type LedgerEntry,
  type OpId,
  type ServerIdentity,
  type SqlSession,
} from '../history/index.ts';
import {
  InsertCommand,
  insertFlags,
  insertStatement,
  identify,
  newestRow,
  putStatement,
  removeStatement,
  schemaChangeStatement,
  transferStatement,
  type Statement,
  asRoot,
  prepareSchema,
} from './schema.ts';
import { databaseName } from './tables.ts';
import type { SessionOptions, DatabaseServer } from '../run/index.ts';

/**
 * Server errors that can come from the commit itself (MySQL's error reference): the transaction
 * may stand after the server's recovery. Every other server error comes from before the commit.
 */
const commitErrors = new Set([
  3, // EE_WRITE: the binary log could not be written
  1026, // ER_ERROR_ON_WRITE
  1053, // ER_SERVER_SHUTDOWN
  1180, // ER_ERROR_DURING_COMMIT
  1317, // ER_QUERY_INTERRUPTED
  1598, // ER_BINLOG_LOGGING_IMPOSSIBLE
]);

/** Server errors after which it closes the connection. */
const sessionErrors = new Set([
  1053, // ER_SERVER_SHUTDOWN
  4031, // ER_CLIENT_INTERACTION_TIMEOUT
]);

export function statementError(error: QueryError): SqlError {
  const { errno } = error;
  // Only an error packet has an SQL state; without one the connection or the protocol broke.
  const fromServer = error.sqlState !== undefined && errno !== undefined;
  const unknown = !fromServer || commitErrors.has(errno);
  return new SqlError(error.message, {
    outcome: unknown ? 'info' : 'fail',
    fatal: !fromServer || sessionErrors.has(errno),
    code: error.code ?? 'UNKNOWN',
    cause: error,
  });
}

/** The error of a connect: nothing was sent, and there is no session. */
export function connectError(error: unknown): SqlError {
  const { code, message } = error as Partial<QueryError>;
  return new SqlError(message ?? String(error), {
    outcome: 'fail',
    fatal: true,
    code: code ?? 'UNKNOWN',
    cause: error,
  });
}

/** Given to a socket that is destroyed because the server kept silent. */
export function timeoutError(
  what: 'connect' | 'operation',
  afterMs: number,
): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`no answer to the ${what} in ${afterMs} ms`);
  error.code = 'ETIMEDOUT';
  return error;
}

type MysqlSessionOptions = SessionOptions & {
  /** Default `root`, without a password, as the database's pod allows on its own network. */
  readonly user?: string;
};

/** A server that does not answer the goodbye is left after this long. */
const goodbyeMs = 500;

/** Connects and asks who answers. Throws SqlError (`fail`, fatal). */
export async function openMysqlSession(options: MysqlSessionOptions): Promise<SqlSession> {
  const { user = 'root', connectTimeoutMs = 2000, operationTimeoutMs = 5000 } = options;
  // The socket is ours since mysql2 has no way to drop a connection whose server is silent.
  const socket =
    'port' in options ? connect(options.port, '127.0.0.1') : connect(options.socketPath);
  const timer = setTimeout(
    () => socket.destroy(timeoutError('connect', connectTimeoutMs)),
    connectTimeoutMs,
  );
  const connection = createConnection({
    stream: socket,
    user,
    database: databaseName,
    multipleStatements: true,
    flags: [...insertFlags],
    connectTimeout: 0,
  });
  try {
    await connected(connection);
    const server = await whoAnswers(connection);
    const insert = new InsertCommand(socket, connection, await prepare(connection));
    return new MysqlSession({ socket, connection, server, insert, operationTimeoutMs });
  } catch (error) {
    socket.destroy();
    throw connectError(error);
  } finally {
    clearTimeout(timer);
  }
}

interface OpenedSession {
  readonly socket: Socket;
  readonly connection: Connection;
  readonly server: ServerIdentity;
  readonly insert: InsertCommand;
  readonly operationTimeoutMs: number;
}

type Done = (error: QueryError | null) => void;

class MysqlSession implements SqlSession {
  readonly server: ServerIdentity;
  readonly #socket: Socket;
  readonly #connection: Connection;
  readonly #insert: InsertCommand;
  /** One timer for all operations: refreshing it is far cheaper than making one for each. */
  readonly #timer: NodeJS.Timeout;
  #underWay = false;
  #lost = false;

  constructor({ socket, connection, server, insert, operationTimeoutMs }: OpenedSession) {
    this.server = server;
    this.#socket = socket;
    this.#connection = connection;
    this.#insert = insert;
    this.#timer = setTimeout(() => {
      if (this.#underWay) socket.destroy(timeoutError('operation', operationTimeoutMs));
    }, operationTimeoutMs);
    socket.once('close', () => {
      this.#lost = true;
      clearTimeout(this.#timer);
    });
  }

  append(entry: LedgerEntry): Promise<void> {
    return this.#exchange((done) => this.#insert.send(entry, done));
  }

  transfer(entry: LedgerEntry): Promise<void> {
    return this.#transaction(transferStatement(entry));
  }

  put(entry: LedgerEntry, body: Buffer): Promise<void> {
    return this.#transaction(putStatement(entry, body));
  }

  remove(entry: LedgerEntry, document: OpId): Promise<void> {
    return this.#transaction(removeStatement(entry, document));
  }

  /** MySQL ends a statement that changes the schema by committing it, so there is nothing to roll back. */
  changeSchema(): Promise<void> {
    const { sql } = schemaChangeStatement;
    return this.#exchange((done) => this.#connection.query(sql, done));
  }

  async readHead(): Promise<OpId | undefined> {
    const [row] = await this.#ask<RowDataPacket[]>((answer) =>
      this.#connection.query<RowDataPacket[]>(newestRow, answer),
    );
    if (row === undefined) return undefined;
    const { client, connection, session, seq }: Record<string, unknown> = row;
    return {
      client: String(client),
      connection: Number(connection),
      session: Number(session),
      seq: Number(seq),
    };
  }

  close(): Promise<void> {
    clearTimeout(this.#timer);
    if (!this.#lost) this.#connection.end(() => this.#socket.destroy());
    setTimeout(() => this.#socket.destroy(), goodbyeMs).unref();
    return Promise.resolve();
  }

  async #transaction({ sql, values }: Statement): Promise<void> {
    try {
      await this.#exchange((done) => this.#connection.query(sql, [...values], done));
    } catch (error) {
      if (error instanceof SqlError && !error.fatal) await this.#rollBack();
      throw error;
    }
  }

  /** The statements after the one that failed were not run, so the transaction is still open. */
  async #rollBack(): Promise<void> {
    try {
      await this.#exchange((done) => this.#connection.query('ROLLBACK', done));
    } catch {
      this.#socket.destroy();
    }
  }

  #exchange(send: (done: Done) => void): Promise<void> {
    return this.#ask<void>(send);
  }

  #ask<T>(send: (done: (error: QueryError | null, answer: T) => void) => void): Promise<T> {
    if (this.#lost) return Promise.reject(notSent());
    return new Promise((resolve, reject) => {
      this.#underWay = true;
      this.#timer.refresh();
      send((error, answer) => {
        this.#underWay = false;
        if (error === null) resolve(answer);
        else reject(statementError(error));
      });
    });
  }
}

function notSent(): SqlError {
  const message = 'the session was lost before the operation was sent';
  return new SqlError(message, { outcome: 'fail', fatal: true, code: 'SESSION_LOST' });
}

/** Also puts up the lasting listener without which a late error would end the process. */
const connected = (connection: Connection): Promise<void> =>
  new Promise((resolve, reject) => {
    connection.on('error', reject);
    connection.on('connect', () => resolve());
  });

async function whoAnswers(connection: Connection): Promise<ServerIdentity> {
  const [self, uptime] = await new Promise<RowDataPacket[][]>((resolve, reject) => {
    connection.query<RowDataPacket[][]>(identify, (error, results) =>
      error === null ? resolve(results) : reject(error),
    );
  });
  const { node, podUid, nowS }: Record<string, unknown> = self?.[0] ?? {};
  if (typeof node !== 'string' || typeof podUid !== 'string') {
    throw new SqlError('the server does not say on which node and in which pod it runs', {
      outcome: 'fail',
      fatal: true,
      code: 'SERVER_UNNAMED',
    });
  }
  return { node, podUid, startedAtS: Number(nowS) - Number(uptime?.[0]?.['Value']) };
}

const prepare = (connection: Connection): Promise<PrepareStatementInfo> =>
  new Promise((resolve, reject) => {
    connection.prepare(insertStatement, (error, statement) =>
      error === null ? resolve(statement) : reject(error),
    );
  });

export const mysqlServer: DatabaseServer = {
  connect: openMysqlSession,
  prepareSchema,
  identify: (socketPath) =>
    asRoot({ socketPath }, async (query) => {
      const [row] = await query('SELECT @@server_uuid AS uuid');
      return String(row?.['uuid']);
    }),
};
