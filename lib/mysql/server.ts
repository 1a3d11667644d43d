/** A MySQL server as a database under test: sessions, the workload's tables, who it is. */
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { DatabaseServer } from '../run/index.ts';
import { prepareSchema } from './schema.ts';
import { openMysqlSession } from './session.ts';

export const mysqlServer: DatabaseServer = {
  connect: openMysqlSession,
  prepareSchema,
  async identify(socketPath) {
    const connection = await createConnection({ socketPath, user: 'root', connectTimeout: 5000 });
    try {
      const [rows] = await connection.query<RowDataPacket[]>('SELECT @@server_uuid AS uuid');
      return String(rows[0]?.['uuid']);
    } finally {
      await connection.end();
    }
  },
};
