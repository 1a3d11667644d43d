/** The database that runs take, as the rest knows it: only here, and in server.ts, one is named. */
import { mysql } from '../mysql/database.ts';
import type { Database } from './port.ts';

export const database: Database = mysql;
