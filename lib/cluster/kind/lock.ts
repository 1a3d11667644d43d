/**
 * One run at a time on a cluster. The lock is an abstract UNIX socket: the kernel gives it to one
 * process and takes it back when that ends, however it ends; whoever dials it is told who has it.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { InfrastructureError } from '../../errors.ts';

export interface Lock {
  release(): Promise<void>;
}

const address = (cluster: string): string => `\0forcedetach/${cluster}`;

/** Throws InfrastructureError `CLUSTER_BUSY` when another run has it. */
export async function lockCluster(cluster: string, runId: string): Promise<Lock> {
  const holder = `run ${runId}, process ${process.pid}`;
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(holder);
  });
  server.listen(address(cluster));
  try {
    await once(server, 'listening');
  } catch (cause) {
    const other = (await lockHolder(cluster)) ?? 'another process';
    throw new InfrastructureError(
      'CLUSTER_BUSY',
      `the cluster \`${cluster}\` is in use by ${other}`,
      { hint: 'wait for that run to end, or give this one a cluster of its own', cause },
    );
  }
  // The lock must not keep a process alive that has nothing left to do.
  server.unref();
  return {
    release: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

/** Who has the lock, or undefined when nobody has. */
export async function lockHolder(cluster: string): Promise<string | undefined> {
  const socket = connect(address(cluster));
  try {
    await once(socket, 'connect');
    return await text(socket);
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}
