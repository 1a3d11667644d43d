/** Folders that runs and batches leave: their names, that they can be made, that no two share one. */
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../../core/index.ts';

/** `reports/2026-05-04T13-20-59-NAME-ID`; not made yet. */
export function folderName(name: string, id: string, now = new Date()): string {
  const time = now.toISOString().slice(0, 19).replaceAll(':', '-');
  return join('reports', `${time}-${name}-${id}`);
}

/**
 * A folder in which a file can be made, before anything else is: the first thing a run must not
 * stumble over at its end. Throws UsageError `OUT_UNUSABLE`.
 */
export function makeFolder(folder: string): void {
  const probe = join(folder, '.forcedetach-probe');
  try {
    makeEach(resolve(folder));
    writeFileSync(probe, 'x');
    rmSync(probe);
  } catch (cause) {
    throw unusable(folder, cause);
  }
}

/** Throws UsageError `NO_FOLDER`. `what`: what the folder should be of. */
export function mustExist(path: string, what: string): void {
  if (existsSync(path)) return;
  throw new UsageError('NO_FOLDER', `there is no folder ${path}`, {
    hint: `give the folder of ${what}`,
  });
}

/** The checks that create nothing. Throws UsageError `OUT_UNUSABLE`. */
export function checkFolder(folder: string): void {
  try {
    const nearest = nearestOf(resolve(folder));
    if (!statSync(nearest).isDirectory()) throw new Error(`${nearest} is not a folder`);
    accessSync(nearest, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw unusable(folder, cause);
  }
}

/** The folder itself, or the one in which it would be made. */
function nearestOf(path: string): string {
  const parent = dirname(path);
  // A link that leads nowhere is there too: nothing can be made in its place.
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  return parent === path || isThere ? path : nearestOf(parent);
}

/** One after the other: Node's own `recursive` never ends where a folder of /proc can't be made. */
function makeEach(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) return;
  if (stat !== undefined) throw new Error(`${path} is not a folder`);
  const parent = dirname(path);
  if (parent !== path) makeEach(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

/** `checkFolder` for a folder that must be new or empty; `hasFlag`: a command names it by `--out`. Throws UsageError `OUT_UNUSABLE` or `OUT_NOT_EMPTY`. */
export function checkNewFolder(folder: string, hasFlag = false): void {
  checkFolder(folder);
  if (!existsSync(folder) || readdirSync(folder).length === 0) return;
  throw new UsageError('OUT_NOT_EMPTY', `${folder} is not empty`, {
    hint: 'give another folder, one that is new or empty',
    ...(hasFlag ? { again: ['--out', `${folder}-2`] } : {}),
  });
}

/** Throws as `checkNewFolder`. */
export function makeNewFolder(folder: string): void {
  checkNewFolder(folder);
  makeFolder(folder);
}

const unusable = (folder: string, cause: unknown): UsageError =>
  new UsageError('OUT_UNUSABLE', `cannot write into ${folder}`, {
    hint: 'give a folder that you may write to, on a disk with space',
    cause,
  });

/** On the model a run is its seed: the same one gives the same files, byte for byte. */
export const modelRunId = (seed: string): string =>
  createHash('sha256').update(seed).digest('hex').slice(0, 8);
