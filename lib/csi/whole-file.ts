/** Files that other processes read at any time, and whose writer may die at any time. */
import { open, readFile, rename } from 'node:fs/promises';

/** The new content is on disk when this resolves; a reader sees it whole or the old one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  const file = await open(fresh, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
}

/** Undefined where there is no such file. */
export const readIfThere = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(absent);

/** Swallows that a file or directory is not there, and no other error. */
export function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
