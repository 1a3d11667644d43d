/** What tells this run's volume from every other one, asked while its database is new. */
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { InfrastructureError } from '../../../errors.ts';
import type { VolumeIdentity } from '../../../history/identity.ts';
import { identifyVolume } from './disk-tool.ts';
import type { Lab } from './lab-port.ts';
import type { SchemaRoutes } from '../../../mysql/schema.ts';

/** The disk tells of the file system on it, and the server through the outside route of its data. */
export async function volumeIdentity(
  lab: Lab,
  volume: string,
  routes: SchemaRoutes,
): Promise<VolumeIdentity> {
  const socketPath = routes.get('outside');
  if (socketPath === undefined) {
    throw new InfrastructureError('NO_ROUTE', 'no relay leads to the database yet');
  }
  const connection = await createConnection({ socketPath, user: 'root', connectTimeout: 5000 });
  try {
    const [rows] = await connection.query<RowDataPacket[]>('SELECT @@server_uuid AS uuid');
    return { ...(await identifyVolume(lab, volume)), serverUuid: String(rows[0]?.['uuid']) };
  } finally {
    await connection.end();
  }
}
