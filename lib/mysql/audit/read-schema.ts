/** The workload's tables as the server's dictionary has them: as made, as changed, or neither. */
import type { SchemaFound } from '../../history/index.ts';
import { changedColumn, databaseName, secondaryIndexes, type WorkloadTable } from '../schema.ts';
import type { SqlClient } from './sql-client.ts';

/** Columns of the accounts, whose columns and indexes are the only ones that change. */
const columns = ['id int unsigned', 'balance bigint'];
const indexes = ['PRIMARY(id)', 'balance(balance)'];
const { name, type } = changedColumn;
const states = {
  original: { columns, indexes },
  changed: {
    columns: [...columns, `${name} ${type}`],
    indexes: [...indexes, `${name}(${name})`],
  },
} as const;

export async function readSchema(client: SqlClient): Promise<SchemaFound> {
  const oddities = [...(await leftovers(client)), ...(await wrongIndexes(client))];
  const found = await accountsOf(client);
  const isLike = ({ columns, indexes }: (typeof states)[keyof typeof states]): boolean =>
    columns.join() === found.columns.join() && indexes.join() === found.indexes.join();
  const state = isLike(states.original) ? 'original' : isLike(states.changed) ? 'changed' : 'other';
  if (state === 'other') {
    oddities.push(`account: ${found.columns.join(', ')}; ${found.indexes.join(', ')}`);
  }
  return { state: oddities.length > 0 ? 'other' : state, oddities };
}

async function accountsOf(
  client: SqlClient,
): Promise<{ readonly columns: string[]; readonly indexes: string[] }> {
  const columns = await client.query(
    "SELECT CONCAT(column_name, ' ', column_type) AS text FROM information_schema.columns" +
      ` WHERE table_schema = '${databaseName}' AND table_name = 'account' ORDER BY ordinal_position`,
  );
  const indexes = await indexesOf(client, 'account');
  return { columns: columns.map(({ text }) => String(text)), indexes };
}

async function indexesOf(client: SqlClient, table: WorkloadTable): Promise<string[]> {
  const rows = await client.query(
    "SELECT CONCAT(index_name, '(', GROUP_CONCAT(column_name ORDER BY seq_in_index), ')') AS text" +
      ` FROM information_schema.statistics WHERE table_schema = '${databaseName}'` +
      ` AND table_name = '${table}' GROUP BY index_name ORDER BY index_name = 'PRIMARY' DESC, index_name`,
  );
  return rows.map(({ text }) => String(text));
}

/** Indexes of the tables that nobody changes. */
async function wrongIndexes(client: SqlClient): Promise<string[]> {
  const wrong: string[] = [];
  for (const table of ['ledger', 'document'] as const) {
    const found = (await indexesOf(client, table)).slice(1).join();
    const made = Object.entries<readonly string[]>(secondaryIndexes[table])
      .map(([name, columns]) => `${name}(${columns.join()})`)
      .toSorted();
    if (found !== made.join()) wrong.push(`${table}: indexes ${found}, made with ${made.join()}`);
  }
  return wrong;
}

/** What a change of the schema builds a table in, and takes away however it ends. */
async function leftovers(client: SqlClient): Promise<string[]> {
  const rows = await client.query(
    `SELECT name FROM information_schema.innodb_tables WHERE name LIKE '${databaseName}/#sql%'`,
  );
  return rows.map(
    (row) => `a table that was never put in place: ${String(row['name'] ?? row['NAME'])}`,
  );
}
