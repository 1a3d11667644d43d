/** The database of the workload, and the SQL of its operations. */
import type { Socket } from 'node:net';
import type { Connection, PrepareStatementInfo, QueryError } from 'mysql2';
import { InfrastructureError } from '../core/index.ts';
import {
  documentBody,
  firstDocuments,
  accountCount,
  initialBalance,
  type LedgerEntry,
  type OpId,
} from '../history/index.ts';
import type { ServerRoutes } from '../run/index.ts';
import { changedColumn, databaseName, secondaryIndexes, type WorkloadTable } from './tables.ts';
import { createConnection, type RowDataPacket } from 'mysql2/promise';

/** A client as an application is one: it may write to the tables, and nothing else. */
export const ordinaryClient = { user: 'forcedetach', password: 'forcedetach' } as const;

/** What every row of the ledger is filled up with. */
export const ledgerPad: string = 'forcedetach-'.repeat(7);

const keysOf = (table: WorkloadTable): string =>
  Object.entries<readonly string[]>(secondaryIndexes[table])
    .map(([name, columns]) => `KEY ${name} (${columns.join(', ')})`)
    .join(', ');

const nameColumns = `client VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  connection SMALLINT UNSIGNED NOT NULL,
  session INT UNSIGNED NOT NULL,
  seq INT UNSIGNED NOT NULL`;

const ledger = `CREATE TABLE ${databaseName}.ledger (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  ${nameColumns},
  kind ENUM('append', 'transfer') NOT NULL,
  from_account INT UNSIGNED NOT NULL,
  to_account INT UNSIGNED NOT NULL,
  amount INT UNSIGNED NOT NULL,
  previous_hash BINARY(32) NOT NULL,
  hash BINARY(32) NOT NULL,
  pad CHAR(84) CHARACTER SET ascii NOT NULL DEFAULT '${ledgerPad}',
  ${keysOf('ledger')}
) ENGINE = InnoDB`;

const account = `CREATE TABLE ${databaseName}.account (
  id INT UNSIGNED NOT NULL PRIMARY KEY,
  balance BIGINT NOT NULL,
  ${keysOf('account')}
) ENGINE = InnoDB`;

/** DYNAMIC, the default, puts a value that is too large for the page outside of it as a whole. */
const document = `CREATE TABLE ${databaseName}.document (
  ${nameColumns},
  body MEDIUMBLOB NOT NULL,
  PRIMARY KEY (client, connection, session, seq)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC`;

/** In place beside the clients' transactions: the table is rebuilt, and what they do is put in after. */
export const schemaChange =
  `ALTER TABLE account ADD COLUMN ${changedColumn.name} ${changedColumn.type} NOT NULL` +
  ` DEFAULT ${changedColumn.value}, ADD KEY ${changedColumn.name} (${changedColumn.name}),` +
  ' ALGORITHM = INPLACE, LOCK = NONE';

const accounts = Array.from({ length: accountCount }, (_, n) => `(${n + 1}, ${initialBalance})`);

const documents = firstDocuments.map((id) => {
  const { client, connection, session, seq } = id;
  const body = documentBody('', id).toString('hex');
  return `('${client}', ${connection}, ${session}, ${seq}, X'${body}')`;
});

/** Makes the empty ledger, the first documents, the ordinary client and the accounts of every connection there can be. */
export const schemaStatements: readonly string[] = [
  `CREATE DATABASE ${databaseName}`,
  ledger,
  account,
  document,
  `INSERT INTO ${databaseName}.document VALUES ${documents.join(', ')}`,
  `INSERT INTO ${databaseName}.account (id, balance) VALUES ${accounts.join(', ')}`,
  `CREATE USER IF NOT EXISTS '${ordinaryClient.user}'@'%' IDENTIFIED BY '${ordinaryClient.password}'`,
  `GRANT SELECT, INSERT, UPDATE, DELETE ON ${databaseName}.* TO '${ordinaryClient.user}'@'%'`,
];

type Query = (sql: string) => Promise<RowDataPacket[]>;

interface RootOptions {
  /** Default 5000. */
  readonly connectTimeout?: number;
  /** Of each statement. Default 60 000: a CREATE takes 0.1 s, and seconds on a busy disk. */
  readonly timeout?: number;
}

export async function asRoot<T>(
  server: { readonly socketPath: string } | { readonly host: string; readonly port: number },
  work: (query: Query) => Promise<T>,
  { connectTimeout = 5000, timeout = 60_000 }: RootOptions = {},
): Promise<T> {
  const connection = await createConnection({ ...server, user: 'root', connectTimeout });
  // Without a listener a late error would end the process.
  connection.on('error', () => undefined);
  try {
    return await work(
      async (sql) => (await connection.query<RowDataPacket[]>({ sql, timeout }))[0],
    );
  } finally {
    // No goodbye: a server that is silent would not answer it.
    connection.destroy();
  }
}

/** Makes the schema through the outside route. A database of that name must not be there yet. */
export async function prepareSchema(routes: ServerRoutes): Promise<void> {
  const socketPath = routes.get('outside');
  if (socketPath === undefined) {
    throw new InfrastructureError('NO_ROUTE', 'no relay leads to the database yet');
  }
  await asRoot({ socketPath }, async (query) => {
    const found = await query(`SHOW DATABASES LIKE '${databaseName}'`);
    if (found.length > 0) {
      throw new InfrastructureError(
        'DATABASE_NOT_EMPTY',
        `the server already has a database ${databaseName}: the volume is not new`,
        {
          hint: 'a run needs a new volume: remove what an earlier run left',
          command: 'npx forcedetach clean',
        },
      );
    }
    for (const sql of schemaStatements) await query(sql);
  });
}

/**
 * The writer's hot path: one ledger row as a COM_STMT_EXECUTE packet, encoded in place. mysql2's
 * own execute, made for any statement, takes twice the time, and that time is the writer's rate:
 * `npm run bench -- writer`. Everything else of the protocol stays mysql2's.
 */
/** In the order in which the packet has them. */
const insertColumns =
  'client, connection, session, seq, kind, from_account, to_account, amount, previous_hash, hash';
export const insertStatement = `INSERT INTO ledger (${insertColumns}) VALUES (${Array.from({ length: 10 }, () => '?').join(', ')})`;

/**
 * The packet below has no room for query attributes, so the connection must not negotiate them
 * (a flag of createConnection).
 */
export const insertFlags: readonly string[] = ['-CLIENT_QUERY_ATTRIBUTES'];

/** Type and sign of each parameter (MySQL's protocol, "Binary Protocol Value"). */
const text = [0xfd, 0];
const short = [0x02, 0x80];
const long = [0x03, 0x80];
const binary = [0xfc, 0];
const parameterTypes = Buffer.from(
  [text, short, long, long, text, long, long, long, binary, binary].flat(),
);
const comStmtExecute = 0x17;
const headerBytes = 4;
const hashBytes = 32;

/** What mysql2 hands to a command and asks of it; not in its typings. */
interface Packet {
  isError(): boolean;
  asError(encoding: string): QueryError;
}
interface CommandHost {
  readonly clientEncoding: string;
  addCommand(command: InsertCommand): void;
  _resetSequenceId(): void;
  _bumpSequenceId(packets: number): void;
}
type Done = (error: QueryError | null) => void;

/** One insert at a time on one connection; the same object and buffer for all of them. */
export class InsertCommand {
  readonly #socket: Socket;
  readonly #host: CommandHost;
  readonly #statementId: number;
  readonly #bytes = Buffer.alloc(256);
  #length = 0;
  /** mysql2 calls it itself when the connection is lost. */
  onResult: Done = () => undefined;

  constructor(socket: Socket, connection: Connection, statement: PrepareStatementInfo) {
    this.#socket = socket;
    this.#host = connection as unknown as CommandHost;
    this.#statementId = (statement as unknown as { readonly id: number }).id;
  }

  send(entry: LedgerEntry, done: Done): void {
    this.#length = encodeInsert(this.#bytes, this.#statementId, entry);
    this.onResult = done;
    this.#host.addCommand(this);
  }

  /** mysql2's turn: first without a packet, to send; then with the answer. True when done. */
  execute(packet: Packet | undefined): boolean {
    if (packet === undefined) {
      this.#host._resetSequenceId();
      this.#host._bumpSequenceId(1);
      this.#socket.write(this.#bytes.subarray(0, this.#length));
      return false;
    }
    this.onResult(packet.isError() ? packet.asError(this.#host.clientEncoding) : null);
    return true;
  }
}

/** Writes header and packet; returns their size in bytes. */
function encodeInsert(bytes: Buffer, statementId: number, entry: LedgerEntry): number {
  let at = headerBytes;
  at = bytes.writeUInt8(comStmtExecute, at);
  at = bytes.writeUInt32LE(statementId, at);
  at = bytes.writeUInt8(0, at); // no cursor
  at = bytes.writeUInt32LE(1, at); // one iteration
  at = bytes.writeUInt16LE(0, at); // no parameter is NULL
  at = bytes.writeUInt8(1, at); // types follow
  at += parameterTypes.copy(bytes, at);
  at = writeText(bytes, at, entry.client);
  at = bytes.writeUInt16LE(entry.connection, at);
  at = bytes.writeUInt32LE(entry.session, at);
  at = bytes.writeUInt32LE(entry.seq, at);
  at = writeText(bytes, at, entry.kind);
  at = bytes.writeUInt32LE(entry.fromAccount, at);
  at = bytes.writeUInt32LE(entry.toAccount, at);
  at = bytes.writeUInt32LE(entry.amount, at);
  at = writeHash(bytes, at, entry.previousHash);
  at = writeHash(bytes, at, entry.hash);
  bytes.writeUIntLE(at - headerBytes, 0, 3);
  bytes.writeUInt8(0, 3); // first packet of its command
  return at;
}

/** ASCII of less than 251 characters, so its length is one byte. */
function writeText(bytes: Buffer, at: number, value: string): number {
  const begin = bytes.writeUInt8(value.length, at);
  return begin + bytes.write(value, begin, 'latin1');
}

function writeHash(bytes: Buffer, at: number, hex: string): number {
  const begin = bytes.writeUInt8(hashBytes, at);
  return begin + bytes.write(hex, begin, 'hex');
}

/**
 * The SQL of the workload's operations, but for the insert, which has a file of its own. Each is one
 * message to the server and one transaction: a lost answer can always mean a commit.
 */
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
