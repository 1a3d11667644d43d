/**
 * The database of the workload: a ledger of rows about as large as sysbench's, and a bank. The
 * ledger's own order is its primary key; what was sent twice can be in it twice, to be seen.
 */
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { InfrastructureError } from '../../errors.ts';
import { accountCount, initialBalance } from '../../workload/ledger.ts';
import type { ClientSide } from '../../workload/sql.ts';

export const databaseName = 'forcedetach';

/** Columns of each secondary index, by table and name. */
export const secondaryIndexes = {
  ledger: {
    operation: ['client', 'connection', 'session', 'seq'],
    from_account: ['from_account'],
  },
  account: { balance: ['balance'] },
} as const;

/** What every row of the ledger is filled up with. */
export const ledgerPad: string = 'forcedetach-'.repeat(7);

export type WorkloadTable = keyof typeof secondaryIndexes;

const keysOf = (table: WorkloadTable): string =>
  Object.entries<readonly string[]>(secondaryIndexes[table])
    .map(([name, columns]) => `KEY ${name} (${columns.join(', ')})`)
    .join(', ');

const ledger = `CREATE TABLE ${databaseName}.ledger (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  client VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  connection SMALLINT UNSIGNED NOT NULL,
  session INT UNSIGNED NOT NULL,
  seq INT UNSIGNED NOT NULL,
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

const accounts = Array.from({ length: accountCount }, (_, n) => `(${n + 1}, ${initialBalance})`);

/** Makes the empty ledger and the accounts of every connection there can be. */
export const schemaStatements: readonly string[] = [
  `CREATE DATABASE ${databaseName}`,
  ledger,
  account,
  `INSERT INTO ${databaseName}.account (id, balance) VALUES ${accounts.join(', ')}`,
];

export interface SchemaRoutes {
  get(side: ClientSide): string | undefined;
}

/** Makes the schema through the outside route. A database of that name must not be there yet. */
export async function prepareSchema(routes: SchemaRoutes): Promise<void> {
  const socketPath = routes.get('outside');
  if (socketPath === undefined) {
    throw new InfrastructureError('NO_ROUTE', 'no relay leads to the database yet');
  }
  const connection = await createConnection({ socketPath, user: 'root', connectTimeout: 5000 });
  try {
    const [found] = await connection.query<RowDataPacket[]>('SHOW DATABASES LIKE ?', [
      databaseName,
    ]);
    if (found.length > 0) {
      throw new InfrastructureError(
        'DATABASE_NOT_EMPTY',
        `the server has a database ${databaseName} already: the volume is not new`,
        { hint: 'a run needs a volume of its own; see experiments/clean.mjs' },
      );
    }
    for (const statement of schemaStatements) await connection.query(statement);
  } finally {
    await connection.end();
  }
}
