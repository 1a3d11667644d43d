/**
 * A table against its secondary indexes: both must give the same values of the same rows. A mere
 * COUNT(*) would not do: InnoDB answers it from the primary key whatever index is forced.
 */
import type { IndexCount } from '../../../checkers/evidence.ts';
import { databaseName, secondaryIndexes, type WorkloadTable } from '../schema.ts';
import type { SqlClient } from './sql-client.ts';

interface Index {
  readonly name: string;
  /** SQL: a number for a row's id and its values of the index's columns, 0 to 2^32 - 1. */
  readonly rowValue: string;
}

/** Rows, and the sum of their `rowValue`s, which needs more than 53 bits. */
export interface RowsAndSum {
  readonly rows: number;
  readonly sum: string;
}

/** By index: what reading the table by its primary key gave. */
export type ValueSums = ReadonlyMap<string, RowsAndSum>;

export const indexesOf = (table: WorkloadTable): readonly Index[] =>
  Object.entries<readonly string[]>(secondaryIndexes[table]).map(([name, columns]) => ({
    name,
    rowValue: `CRC32(CONCAT_WS('|', id, ${columns.join(', ')}))`,
  }));

/** Beyond it a number can't be added to without loss. */
const foldAbove = 2 ** 52;

/** Adds up numbers of 32 bits, exactly. */
export class ValueSum {
  #rows = 0;
  #recent = 0;
  #folded = 0n;

  add(value: number): void {
    this.#rows += 1;
    this.#recent += value;
    if (this.#recent > foldAbove) this.#fold();
  }

  result(): RowsAndSum {
    this.#fold();
    return { rows: this.#rows, sum: String(this.#folded) };
  }

  #fold(): void {
    this.#folded += BigInt(this.#recent);
    this.#recent = 0;
  }
}

/** `ledger`: what a pass over it gave already. Default: it is read by its primary key once more. */
export async function compareIndexes(
  client: SqlClient,
  ledger: ValueSums = new Map(),
): Promise<IndexCount[]> {
  const counts: IndexCount[] = [];
  for (const table of ['account', 'ledger'] as const) {
    for (const index of indexesOf(table)) {
      const known = table === 'ledger' ? ledger.get(index.name) : undefined;
      const primary = known ?? (await readBy(client, table, 'PRIMARY', index));
      const secondary = await readBy(client, table, index.name, index);
      counts.push({
        table,
        index: index.name,
        byPrimary: primary.rows,
        byIndex: secondary.rows,
        valuesAgree: primary.sum === secondary.sum,
      });
    }
  }
  return counts;
}

async function readBy(
  client: SqlClient,
  table: WorkloadTable,
  index: string,
  { rowValue }: Index,
): Promise<RowsAndSum> {
  const [row] = await client.query(
    `SELECT COUNT(*) AS n, COALESCE(SUM(${rowValue}), 0) AS s` +
      ` FROM ${databaseName}.${table} FORCE INDEX (\`${index}\`)`,
  );
  return { rows: Number(row?.['n']), sum: String(row?.['s']) };
}
