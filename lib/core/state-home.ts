/** Where this project keeps what outlives a process: the user's state folder (XDG base directories). */
import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { InfrastructureError } from './errors.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** `$XDG_STATE_HOME/forcedetach`. Cluster names begin with a letter or a digit, its own files with a dot. */
export const stateHome = (env: Env = process.env): string =>
  join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'forcedetach');

/**
 * Makes the folder, or takes it where it is there, so that nobody else may look into it or write.
 * Throws InfrastructureError `STATE_FOLDER` where it is another user's, or no folder.
 */
export function privateFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const found = lstatSync(path);
    if (!found.isDirectory()) throw new Error('it is not a folder');
    if (found.uid !== process.getuid?.()) throw new Error('it belongs to another user');
    if ((found.mode & 0o077) !== 0) chmodSync(path, 0o700);
    return path;
  } catch (cause) {
    throw new InfrastructureError('STATE_FOLDER', `${path} cannot be used`, {
      hint: 'set XDG_STATE_HOME to a folder of your own, or correct the owner of this one',
      command: `ls -ld ${path}`,
      cause,
    });
  }
}
