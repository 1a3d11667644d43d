/** The fields of a scenario that are the database's own. */
import type { z } from 'zod';
import { mysqlFields } from '../mysql/fields.ts';

export const databaseFields = mysqlFields;
export type DatabaseChoice = z.output<z.ZodObject<typeof databaseFields>>;
