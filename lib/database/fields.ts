/** The fields of a scenario that are the database's own. */
import type { z } from 'zod';
import { mysqlFields } from '../mysql/fields.ts';

export const databaseFields = mysqlFields;
export const databaseFieldNames = Object.keys(databaseFields) as readonly (keyof DatabaseChoice)[];

/** What a scenario says of the database. */
export type DatabaseChoice = z.output<z.ZodObject<typeof databaseFields>>;

/** Those of a scenario or of flags. */
export const databaseChoiceOf = (given: DatabaseChoice): DatabaseChoice =>
  Object.fromEntries(databaseFieldNames.map((name) => [name, given[name]])) as DatabaseChoice;
