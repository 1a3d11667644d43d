/** What tells this run's volume from every other one, asked while its database is new. */
import { databaseServer } from '../../../database/server.ts';
import type { ServerRoutes } from '../../../database/server-port.ts';
import { InfrastructureError } from '../../../errors.ts';
import type { VolumeIdentity } from '../../../history/identity.ts';
import { identifyVolume } from './disk-tool.ts';
import type { Lab } from './lab.ts';

/** The disk tells of the file system on it, and the server through the outside route of its data. */
export async function volumeIdentity(
  lab: Lab,
  volume: string,
  routes: ServerRoutes,
): Promise<VolumeIdentity> {
  const socketPath = routes.get('outside');
  if (socketPath === undefined) {
    throw new InfrastructureError('NO_ROUTE', 'no relay leads to the database yet');
  }
  const serverUuid = await databaseServer.identify(socketPath);
  return { ...(await identifyVolume(lab, volume)), serverUuid };
}
