/** The fields of a scenario that are the database's own. */
import type { z } from 'zod';
import { choice, sparse } from './field.ts';
import { mysqlFields } from './mysql.ts';
import { databaseKinds, fieldsOfDatabases, stockDatabaseKind } from '../database-kinds/index.ts';

/** Settings of each server. */
export const databaseFields = mysqlFields;

/** Which it is, and what goes with one kind alone. */
export const databaseKindFields = {
  database: sparse(
    choice('database.kind', databaseKinds, stockDatabaseKind, {
      about:
        'what to test: one server on a volume that moves, or a group of servers with a volume each',
      more: '([below](#databases))',
    }),
  ),
  ...fieldsOfDatabases,
};

/** What a scenario says of each server. */
export type DatabaseChoice = {
  readonly [Name in keyof typeof databaseFields]: z.output<(typeof databaseFields)[Name]['schema']>;
};

/** What it is set to where nobody says anything. */
export const stockDatabase = Object.fromEntries(
  Object.entries(databaseFields).map(([name, { stock }]) => [name, stock]),
) as DatabaseChoice;
