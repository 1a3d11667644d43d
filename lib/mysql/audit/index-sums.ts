/**
 * A table against its secondary indexes: both must give the same values of the same rows. A mere
 * COUNT(*) would not do: InnoDB answers it from the primary key whatever index is forced.
 */
import { crc32 } from 'node:zlib';
import type { IndexCount, LedgerRow } from '../../history/index.ts';
import { changedColumn, databaseName, secondaryIndexes, type WorkloadTable } from '../schema.ts';
import type { SqlClient } from './sql-client.ts';

type TextColumn = 'client' | 'balance';
/** What MySQL keeps as a number from 0 to 2^32 - 1. */
type NumberColumn = 'connection' | 'session' | 'seq' | 'from_account' | 'branch';

export interface Index {
  readonly name: string;
  readonly columns: readonly (TextColumn | NumberColumn)[];
}

/** Rows, and the exclusive or of a 64-bit value of each: `valueInSql`. */
export interface RowsAndMix {
  readonly rows: number;
  readonly mix: string;
}

/** By index: what reading the table by its primary key gave. */
export type IndexMixes = ReadonlyMap<string, RowsAndMix>;

export const indexesOf = (table: WorkloadTable): readonly Index[] =>
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
const checksums = new Map<string, number>();

function checksumOf(text: string): number {
  let checksum = checksums.get(text);
  if (checksum === undefined) checksums.set(text, (checksum = crc32(Buffer.from(text, 'latin1'))));
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
