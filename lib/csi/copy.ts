/** Copies a volume as it is at one moment. */
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import type { ArrayCopy } from './array-port.ts';
import { copyPath, filesCopyPath, filesPath } from './layout.ts';
import type { Backend } from './paths.ts';
import { must } from './run.ts';

export interface Copied extends Partial<ArrayCopy> {
  /** An image, or a directory of a volume that is shared by its files. */
  readonly path: string;
}

/** A copy appears whole or not at all, in place of an earlier one of that label. */
export async function copyVolume(
  { layout, array }: Backend,
  volume: string,
  label: string,
): Promise<Copied> {
  await mkdir(layout.copies, { recursive: true });
  const files = filesPath(layout, volume);
  if (await isFolder(files)) return copyFiles(files, filesCopyPath(layout, label));
  const path = copyPath(layout, label);
  const copied = await array.copy({ volume, to: `${path}.new` });
  await rename(`${path}.new`, path);
  return { path, ...copied };
}

/** Of one moment only while those who write there are frozen: nothing holds a directory. */
async function copyFiles(files: string, path: string): Promise<Copied> {
  await rm(`${path}.new`, { recursive: true, force: true });
  await must('cp', '--archive', '--sparse=always', files, `${path}.new`);
  await rm(path, { recursive: true, force: true });
  await rename(`${path}.new`, path);
  return { path };
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
