/** Copies a volume as it is at one moment, and says which copy it is. */
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import type { ArrayCopy } from './array-port.ts';
import { labelCopy, type CopyIdentity } from './copy-label.ts';
import { copyPath, filesCopyPath, filesPath } from './layout.ts';
import type { Backend } from './paths.ts';
import { readRecord } from './record-store.ts';
import { must } from './run.ts';

export interface Copied extends Partial<Omit<ArrayCopy, 'bytes'>>, CopyIdentity {
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
  if (await isFolder(files)) return copyFiles(volume, files, filesCopyPath(layout, label));
  const path = copyPath(layout, label);
  const { heldMs } = await array.copy({ volume, to: `${path}.new` });
  await rename(`${path}.new`, path);
  const generation = ((await readRecord(layout, volume))?.nextGeneration ?? 1) - 1;
  return { path, heldMs, ...(await labelCopy(path, { volume, generation })) };
}

/** Of one moment only while those who write there are frozen: nothing holds a directory. */
async function copyFiles(volume: string, files: string, path: string): Promise<Copied> {
  await rm(`${path}.new`, { recursive: true, force: true });
  await must('cp', '--archive', '--sparse=always', files, `${path}.new`);
  await rm(path, { recursive: true, force: true });
  await rename(`${path}.new`, path);
  return { path, ...(await labelCopy(path, { volume, generation: 0 })) };
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
