/** The process that starts others; spawner.ts says why there is one. It ends with its parent. */
import { type Child, killChildren, startHere } from './child.ts';
import type { FromSpawner, ToSpawner } from './spawner.ts';

const children = new Map<number, Child>();
const tell = (message: FromSpawner): void => void process.send?.(message);

process.on('message', ({ id, start, write, end, kill }: ToSpawner) => {
  if (start !== undefined) {
    const child = startHere(start, {
      onOut: (out) => tell({ id, out }),
      onErr: (err) => tell({ id, err }),
    });
    children.set(id, child);
    child.started.then(
      () => tell({ id, started: true }),
      () => undefined,
    );
    child.exited
      .then(
        (exit) => tell({ id, exit }),
        ({ message, code }: NodeJS.ErrnoException) => tell({ id, error: { message, code } }),
      )
      .finally(() => children.delete(id));
  }
  const child = children.get(id);
  if (write !== undefined) child?.write(write);
  if (end === true) child?.end();
  if (kill !== undefined) child?.kill(kill);
});
// However it ended. A `kind create` that outlives a killed run fails, once the next start has removed
// its nodes, and then removes all of that name: the next start's.
process.once('disconnect', () => {
  killChildren();
  process.exit();
});
