/** The database that runs take, on a machine without a cluster. */
import { mysqlBare } from '../mysql/bare/server.ts';
import type { BareServer } from './server-port.ts';

export const bareServer: BareServer = mysqlBare;
