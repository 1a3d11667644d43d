/** Names of the workload’s tables, indexes and columns; it loads no client of MySQL. */

/**
 * The database of the workload: a ledger of rows about as large as sysbench's, a bank, and documents
 * that no page has room for. The ledger's own order is its primary key; what was sent twice can be in
 * it twice, to be seen.
 */
export const databaseName = 'forcedetach';

export const secondaryIndexes = {
  ledger: {
    operation: ['client', 'connection', 'session', 'seq'],
    from_account: ['from_account'],
  },
  account: { balance: ['balance'] },
  document: {},
} as const;

export type WorkloadTable = keyof typeof secondaryIndexes;

/** What the change of the schema adds to the accounts: a column, and an index of the same name. */
export const changedColumn = { name: 'branch', type: 'int unsigned', value: 7 } as const;

interface MadeIndex {
  readonly table: string;
  readonly index: string;
}

/** Each index of the workload's tables but the primary keys. */
export const indexesMade = (isChanged: boolean): MadeIndex[] => [
  ...Object.entries(secondaryIndexes).flatMap(([table, indexes]) =>
    Object.keys(indexes).map((index) => ({ table, index })),
  ),
  ...(isChanged ? [{ table: 'account', index: changedColumn.name }] : []),
];
