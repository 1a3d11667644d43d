/** The database that runs take, as a server that is there. */
import { mysqlServer } from '../mysql/server.ts';
import type { DatabaseServer } from './server-port.ts';

export const databaseServer: DatabaseServer = mysqlServer;
