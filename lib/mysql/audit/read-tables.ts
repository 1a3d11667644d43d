/** What the audit asks of the tables in SQL, one function a question; and the one pass over the ledger. */
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  type IndexCount,
  type LedgerRow,
  type DocumentsFound,
  documentBody,
  sessionKey,
  type OpId,
  type SchemaFound,
  workloadTables,
} from '../../history/index.ts';
import { ledgerColumns, type RowVerifier } from './rows.ts';
import type { SqlClient } from './sql-client.ts';
import type { TableCheck } from '../evidence.ts';
import { changedColumn, databaseName, secondaryIndexes, type WorkloadTable } from '../tables.ts';
import { batchRows } from '../../storage/index.ts';

/**
 * A table against its secondary indexes: both must give the same values of the same rows. A mere
 * COUNT(*) would not do: InnoDB answers it from the primary key whatever index is forced.
 */
type TextColumn = 'client' | 'balance';
/** What MySQL keeps as a number from 0 to 2^32 - 1. */
type NumberColumn = 'connection' | 'session' | 'seq' | 'from_account' | 'branch';

export interface Index {
  readonly name: string;
  readonly columns: readonly (TextColumn | NumberColumn)[];
}

/** Rows, and the exclusive or of a 64-bit value of each: `valueInSql`. */
interface RowsAndMix {
  readonly rows: number;
  readonly mix: string;
}

/** By index: what reading the table by its primary key gave. */
export type IndexMixes = ReadonlyMap<string, RowsAndMix>;

const indexesOf = (table: WorkloadTable): readonly Index[] =>
  Object.entries<Index['columns']>(secondaryIndexes[table]).map(([name, columns]) => ({
    name,
    columns,
  }));

/** By place. Odd: no bit of a column is lost. Below 2^29: four terms stay below 2^63. */
const factors = [0x1b873593, 0x165667b1, 0x19d699a5, 0x1f83d9ab];
const bits32 = 2 ** 32 - 1;

/**
 * A row's id times a number of 32 bits from the index's columns, both modulo 2^32. Sums and
 * CONCAT_WS say no more, and take MySQL two to three times as long.
 */
function valueInSql({ columns }: Index): string {
  const terms = columns.map((column, n) => {
    const isText = column === 'client' || column === 'balance';
    return `${isText ? `CRC32(${column})` : column} * ${factors[n]}`;
  });
  return `(id & ${bits32}) * ((${terms.join(' + ')}) & ${bits32})`;
}

/** The same from rows of the ledger that were read. */
export class IndexMix {
  readonly #columns: ((row: LedgerRow) => number)[];
  #rows = 0;
  #high = 0;
  #low = 0;

  constructor({ columns }: Index) {
    this.#columns = columns.map((column) => inLedger[column]);
  }

  add(row: LedgerRow): void {
    let number = 0;
    for (let n = 0; n < this.#columns.length; n++) {
      number += Math.imul(this.#columns[n]?.(row) ?? 0, factors[n] ?? 0);
    }
    this.#rows += 1;
    this.#low ^= Math.imul(row.id, number);
    this.#high ^= highHalf(row.id >>> 0, number >>> 0);
  }

  result(): RowsAndMix {
    const mix = (BigInt(this.#high >>> 0) << 32n) | BigInt(this.#low >>> 0);
    return { rows: this.#rows, mix: String(mix) };
  }
}

const inLedger: Record<TextColumn | NumberColumn, (row: LedgerRow) => number> = {
  client: ({ client }) => checksumOf(client),
  connection: ({ connection }) => connection,
  session: ({ session }) => session,
  seq: ({ seq }) => seq,
  from_account: ({ fromAccount }) => fromAccount,
  balance: () => 0,
  branch: () => 0,
};

/** There are few clients, and each call of zlib costs as much as the rest of a row. */
const textChecksums = new Map<string, number>();

function checksumOf(text: string): number {
  let checksum = textChecksums.get(text);
  if (checksum === undefined)
    textChecksums.set(text, (checksum = crc32(Buffer.from(text, 'latin1'))));
  return checksum;
}

/** Upper 32 bits of the product of two numbers of 32 bits; a number holds 53 exactly. */
function highHalf(a: number, b: number): number {
  const low = (a & 0xffff) * b;
  return Math.floor(((a >>> 16) * b + Math.floor(low / 2 ** 16)) / 2 ** 16);
}

const changedIndex: Index = { name: changedColumn.name, columns: [changedColumn.name] };

/**
 * `ledger`: what a pass over it gave already. Default: it is read by its primary key once more.
 * `isChanged`: the accounts have the index that the change of the schema adds. All beside each other:
 * the server takes one processor for each.
 */
export function compareIndexes(
  client: SqlClient,
  ledger: IndexMixes = new Map(),
  isChanged = false,
): Promise<IndexCount[]> {
  const added = isChanged ? [changedIndex] : [];
  const ofAccounts = [...indexesOf('account'), ...added].map((index) =>
    client.beside((own) => compareIndex(own, 'account', index, undefined)),
  );
  const ofLedger = indexesOf('ledger').map((index) =>
    client.beside((own) => compareIndex(own, 'ledger', index, ledger.get(index.name))),
  );
  return Promise.all([...ofAccounts, ...ofLedger]);
}

async function compareIndex(
  client: SqlClient,
  table: WorkloadTable,
  index: Index,
  known: RowsAndMix | undefined,
): Promise<IndexCount> {
  const primary = known ?? (await readBy(client, table, 'PRIMARY', index));
  const secondary = await readBy(client, table, index.name, index);
  return {
    table,
    index: index.name,
    byPrimary: primary.rows,
    byIndex: secondary.rows,
    valuesAgree: primary.mix === secondary.mix,
  };
}

async function readBy(
  client: SqlClient,
  table: WorkloadTable,
  by: string,
  index: Index,
): Promise<RowsAndMix> {
  const [row] = await client.query(
    `SELECT COUNT(*) AS n, CAST(BIT_XOR(${valueInSql(index)}) AS CHAR) AS mix` +
      ` FROM ${databaseName}.${table} FORCE INDEX (\`${by}\`)`,
  );
  return { rows: Number(row?.['n']), mix: String(row?.['mix']) };
}

const table = `${databaseName}.document FORCE INDEX (PRIMARY)`;
/** Documents that are read whole; of more than so many torn ones only the names are told. */
const readWhole = 25;

/**
 * The documents, byte for byte. The server says the hash of each, so that no document travels but one
 * that is not what was written.
 */
export async function readDocuments(client: SqlClient, seed: string): Promise<DocumentsFound> {
  const found: Record<string, number[]> = {};
  const others: OpId[] = [];
  const rows = await client.query(
    'SELECT client, connection, session, seq, LENGTH(body) AS length, SHA2(body, 256) AS hash' +
      ` FROM ${table} ORDER BY client, connection, session, seq`,
  );
  for (const row of rows) {
    const { client, connection, session, seq } = row;
    const id = {
      ...{ client: String(client), connection: Number(connection) },
      ...{ session: Number(session), seq: Number(seq) },
    };
    (found[sessionKey(id)] ??= []).push(id.seq);
    const body = documentBody(seed, id);
    const fits = Number(row['length']) === body.length && row['hash'] === hash('sha256', body);
    if (!fits) others.push(id);
  }
  const torn: DocumentsFound['torn'][number][] = [];
  for (const [n, document] of others.entries()) {
    const how = n < readWhole ? await difference(client, document, seed) : 'not read again';
    torn.push({ document, how });
  }
  return { found, torn };
}

async function difference(client: SqlClient, id: OpId, seed: string): Promise<string> {
  const where = `client = '${id.client.replaceAll("'", "''")}' AND connection = ${id.connection}`;
  const [row] = await client.query(
    `SELECT body FROM ${table} WHERE ${where} AND session = ${id.session} AND seq = ${id.seq}`,
  );
  const body = row?.['body'];
  if (!Buffer.isBuffer(body)) return 'not there when it was read again';
  const expected = documentBody(seed, id);
  const differ = [...expected.keys()].filter((at) => body[at] !== expected[at]);
  if (differ.length === 0) return `${body.length} bytes, ${expected.length} were written`;
  const range = `from byte ${differ[0]} to ${differ.at(-1)}`;
  return `${body.length} of ${expected.length} bytes, ${differ.length} of them others, ${range}`;
}

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
  const indexes = await indexesFound(client, 'account');
  return { columns: columns.map(({ text }) => String(text)), indexes };
}

async function indexesFound(client: SqlClient, table: WorkloadTable): Promise<string[]> {
  const rows = await client.query(
    "SELECT CONCAT(index_name, '(', GROUP_CONCAT(column_name ORDER BY seq_in_index), ')') AS text" +
      ` FROM information_schema.statistics WHERE table_schema = '${databaseName}'` +
      ` AND table_name = '${table}' GROUP BY index_name ORDER BY index_name = 'PRIMARY' DESC, index_name`,
  );
  return rows.map(({ text }) => String(text));
}

async function wrongIndexes(client: SqlClient): Promise<string[]> {
  const wrong: string[] = [];
  for (const table of ['ledger', 'document'] as const) {
    const found = (await indexesFound(client, table)).slice(1).join();
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

const qualified = workloadTables.map((table) => `${databaseName}.${table}`);

export async function readBalances(client: SqlClient): Promise<Record<number, number>> {
  const rows = await client.query(
    `SELECT id, balance FROM ${databaseName}.account FORCE INDEX (PRIMARY)`,
  );
  return Object.fromEntries(rows.map((row) => [Number(row['id']), Number(row['balance'])]));
}

/** CHECKSUM TABLE of every table of the workload; `NULL` of one that could not be read, and why. */
export async function checksums(client: SqlClient): Promise<TableCheck[]> {
  const found: TableCheck[] = [];
  for (const table of qualified) {
    const [row] = await client.query(`CHECKSUM TABLE ${table}`);
    const checksum = row?.['Checksum'];
    if (typeof checksum === 'number' || typeof checksum === 'string') {
      found.push({ table, checksum: String(Number(checksum)) });
      continue;
    }
    const warnings = await client.query('SHOW WARNINGS');
    const error = warnings.map((each) => String(each['Message'])).join('; ');
    found.push({ table, checksum: 'NULL', ...(error !== '' && { error }) });
  }
  return found;
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

const sql =
  `SELECT ${ledgerColumns.join(', ')}` +
  ` FROM ${databaseName}.ledger FORCE INDEX (PRIMARY) ORDER BY id`;

/**
 * By its primary key, for the check of every row and the comparison with the indexes.
 * Streams the ledger in batches. Resolves to what the table itself says of each of its indexes;
 * rejects with what stopped it, after what was read before has been handed on.
 */
export async function streamLedger(
  client: SqlClient,
  verifier: RowVerifier,
  onRows: (rows: readonly LedgerRow[]) => Promise<void> | void,
): Promise<IndexMixes> {
  const mixes = new Map(indexesOf('ledger').map((index) => [index.name, new IndexMix(index)]));
  const [...all] = mixes.values();
  // Bytes as they are stored; else MySQL turns each text into the client's character set.
  await client.query('SET character_set_results = NULL');
  let batch: LedgerRow[] = [];
  try {
    await client.stream(sql, (bytes, start) => {
      const row = verifier.toRow(bytes, start);
      for (const mix of all) mix.add(row);
      batch.push(row);
      if (batch.length < batchRows) return undefined;
      const full = batch;
      batch = [];
      return onRows(full);
    });
  } finally {
    if (batch.length > 0) await onRows(batch);
  }
  return new Map([...mixes].map(([name, mix]) => [name, mix.result()]));
}
