/**
 * The database of the workload: a ledger of rows about as large as sysbench's, a bank, and documents
 * that no page has room for. The ledger's own order is its primary key; what was sent twice can be in
 * it twice, to be seen.
 */
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { ServerRoutes } from '../run/index.ts';
import { InfrastructureError } from '../core/index.ts';
import { documentBody, firstDocuments, accountCount, initialBalance } from '../history/index.ts';

export const databaseName = 'forcedetach';

/** Columns of each secondary index, by table and name. */
export const secondaryIndexes = {
  ledger: {
    operation: ['client', 'connection', 'session', 'seq'],
    from_account: ['from_account'],
  },
  account: { balance: ['balance'] },
  document: {},
} as const;

/** A client as an application is one: it may write to the tables, and nothing else. */
export const ordinaryClient = { user: 'forcedetach', password: 'forcedetach' } as const;

/** What every row of the ledger is filled up with. */
export const ledgerPad: string = 'forcedetach-'.repeat(7);

export type WorkloadTable = keyof typeof secondaryIndexes;

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

/** What the change of the schema adds to the accounts: a column, and an index of the same name. */
export const changedColumn = { name: 'branch', type: 'int unsigned', value: 7 } as const;

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

/** Limit of each statement; a CREATE takes 0.1 s, and seconds on a busy disk. */
const statementMs = 60_000;

/** Makes the schema through the outside route. A database of that name must not be there yet. */
export async function prepareSchema(routes: ServerRoutes): Promise<void> {
  const socketPath = routes.get('outside');
  if (socketPath === undefined) {
    throw new InfrastructureError('NO_ROUTE', 'no relay leads to the database yet');
  }
  const connection = await createConnection({ socketPath, user: 'root', connectTimeout: 5000 });
  try {
    const ask = `SHOW DATABASES LIKE '${databaseName}'`;
    const [found] = await connection.query<RowDataPacket[]>({ sql: ask, timeout: statementMs });
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
    for (const sql of schemaStatements) await connection.query({ sql, timeout: statementMs });
  } finally {
    // No goodbye: a server that is silent would not answer it.
    connection.destroy();
  }
}
