/** The fields of a scenario that are the database's own. */
import type { z } from 'zod';
import { mysqlFields } from '../mysql/fields.ts';

export const databaseFields = mysqlFields;

/** What a scenario says of the database. */
export type DatabaseChoice = {
  readonly [Name in keyof typeof databaseFields]: z.output<(typeof databaseFields)[Name]['schema']>;
};

/** What it is set to where nobody says anything. */
export const stockDatabase = Object.fromEntries(
  Object.entries(databaseFields).map(([name, { stock }]) => [name, stock]),
) as DatabaseChoice;
