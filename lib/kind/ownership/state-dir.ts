/** A cluster's directory on the host: its own kubeconfig, kubeadm's patches, the relays' sockets. */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateFolder, stateHome } from '../../core/index.ts';

/** A socket's address holds 108 bytes (unix(7)); its name within the directory takes up to 40. */
const longestDirectory = 60;

export interface StateDir {
  readonly path: string;
  readonly kubeconfig: string;
  /** What kind is told. */
  readonly kindConfig: string;
  readonly patches: string;
  readonly sockets: string;
}

/** The directory that a label names. */
export const stateDirAt = (path: string): StateDir => ({
  path,
  kubeconfig: join(path, 'kubeconfig'),
  kindConfig: join(path, 'kind.yaml'),
  patches: join(path, 'patches'),
  sockets: join(path, 's'),
});

const tokenFile = '.token';

/** What says that a directory is one of ours: it lies in the file, and in the cluster's labels. */
function tokenIn(path: string): string | undefined {
  try {
    return readFileSync(join(path, tokenFile), 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * `$XDG_STATE_HOME/forcedetach/<cluster>`, or one under the temporary directory if that is long or
 * there is a directory which is not ours. `token`: for the labels.
 */
export async function makeStateDir(
  cluster: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<StateDir & { readonly token: string }> {
  const wanted = join(privateFolder(stateHome(env)), cluster);
  const left = tokenIn(wanted);
  // Only a start that has the cluster's lock comes here: what is there is a dead one's.
  if (left !== undefined) await removeStateDir(wanted, left);
  const fits = Buffer.byteLength(wanted) <= longestDirectory && !existsSync(wanted);
  const path = fits ? wanted : await mkdtemp(join(tmpdir(), 'forcedetach-'));
  const dir = stateDirAt(path);
  const token = randomBytes(16).toString('hex');
  // Whoever can dial a relay has the database.
  privateFolder(path);
  await writeFile(join(path, tokenFile), token, { mode: 0o600 });
  await mkdir(dir.patches, { mode: 0o755 });
  await mkdir(dir.sockets, { mode: 0o700 });
  return { ...dir, token };
}

const completeMark = 'complete';

/** Says that the cluster's creation came to its end: only such a one is worth keeping. */
export const markComplete = (dir: StateDir): Promise<void> =>
  writeFile(join(dir.path, completeMark), '');

/** Looks at the directory that labels name, which has to be theirs. */
export const isComplete = (path: string, token: string): boolean =>
  token !== '' && tokenIn(path) === token && existsSync(join(path, completeMark));

export async function writePatches(
  dir: StateDir,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir.patches, name), text);
}

/**
 * Removes the directory, or says why it stays. A label might be forged or wrong: only a real
 * directory of this user that has the same token is ours. No directory is no error.
 */
export async function removeStateDir(path: string, token: string): Promise<string | undefined> {
  const found = path === '' ? undefined : lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const isOurs = found.isDirectory() && found.uid === process.getuid?.();
  if (!isOurs || token === '' || tokenIn(path) !== token) {
    return `${JSON.stringify(path)} is not the cluster’s directory, whatever its label says`;
  }
  await rm(path, { recursive: true, force: true });
  return undefined;
}
