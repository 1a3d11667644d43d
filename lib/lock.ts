/**
 * A lock on a name. It is an abstract UNIX socket: the kernel gives it to one process and takes it
 * back when that ends, however it ends; whoever dials it is told who has it.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Lock {
  release(): Promise<void>;
}

const address = (name: string): string => `\0forcedetach/${name}`;

/**
 * `name`: at most 90 bytes. Rejects where another has it; `lockHolder` then gives the `holder` that
 * the other one told.
 */
export async function takeLock(name: string, holder: string): Promise<Lock> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(holder);
  });
  server.listen(address(name));
  await once(server, 'listening');
  // The lock must not keep a process alive that has nothing left to do.
  server.unref();
  return {
    release: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

/** As `takeLock`, for this process; where another has it, throws what `refusal` makes of its name. */
export async function takeFreeLock(
  name: string,
  holder: string,
  refusal: (other: string, cause: unknown) => Error,
): Promise<Lock> {
  try {
    return await takeLock(name, holder);
  } catch (cause) {
    throw refusal((await lockHolder(name)) ?? 'another process', cause);
  }
}

/** Who has the lock, or undefined when nobody has. */
export async function lockHolder(name: string): Promise<string | undefined> {
  const socket = connect(address(name));
  try {
    await once(socket, 'connect');
    return await text(socket);
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}
