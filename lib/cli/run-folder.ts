/** Folders that runs and batches leave: their names, and that two runs never share one. */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';

/** `reports/2026-05-04T13-20-59-NAME-ID`; not made yet. */
export function folderName(name: string, id: string, now = new Date()): string {
  const time = now.toISOString().slice(0, 19).replaceAll(':', '-');
  return join('reports', `${time}-${name}-${id}`);
}

/** Throws UsageError `OUT_NOT_EMPTY`. */
export function makeRunFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length === 0) return;
  throw new UsageError('OUT_NOT_EMPTY', `${folder} is not empty`, {
    hint: 'give --out a folder that is new or empty',
  });
}
