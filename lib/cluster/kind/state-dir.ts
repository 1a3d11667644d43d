/** A cluster's directory on the host: its own kubeconfig, kubeadm's patches, the relays' sockets. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** A socket's address holds 108 bytes (unix(7)); its name within the directory takes up to 40. */
const longestDirectory = 60;

export interface StateDir {
  /** Removed with the cluster. */
  readonly path: string;
  readonly kubeconfig: string;
  readonly patches: string;
  readonly sockets: string;
}

const inside = (path: string): StateDir => ({
  path,
  kubeconfig: join(path, 'kubeconfig'),
  patches: join(path, 'patches'),
  sockets: join(path, 's'),
});

/** The directory that a label names. */
export const stateDirAt = (path: string): StateDir => inside(path);

/** `$XDG_STATE_HOME/forcedetach/<cluster>`, or one under the temporary directory if that is long. */
export async function makeStateDir(
  cluster: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<StateDir> {
  const home = env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state');
  const wanted = join(home, 'forcedetach', cluster);
  const fits = Buffer.byteLength(wanted) <= longestDirectory;
  const path = fits ? wanted : await mkdtemp(join(tmpdir(), 'forcedetach-'));
  const dir = inside(path);
  await mkdir(dir.patches, { recursive: true, mode: 0o755 });
  await mkdir(dir.sockets, { recursive: true, mode: 0o755 });
  return dir;
}

const completeMark = 'complete';

/** Says that the cluster's creation came to its end: only such a one is worth keeping. */
export const markComplete = (dir: StateDir): Promise<void> =>
  writeFile(join(dir.path, completeMark), '');

export const isComplete = (path: string): boolean => existsSync(join(path, completeMark));

export async function writePatches(
  dir: StateDir,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir.patches, name), text);
}

/** Removes the directory. A label might be forged or wrong: only a directory of ours is removed. */
export async function removeStateDir(path: string): Promise<void> {
  const ours =
    basename(dirname(path)) === 'forcedetach' || basename(path).startsWith('forcedetach-');
  if (ours) await rm(path, { recursive: true, force: true });
}
