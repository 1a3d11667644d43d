/** One process at a time on a batch's folder: two would both append to its results. */
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { UsageError } from '../../errors.ts';
import { takeFreeLock, type Lock } from '../../lock.ts';

/** The folder exists. Throws UsageError `BATCH_BUSY` when another process runs its batch. */
export function lockBatch(folder: string): Promise<Lock> {
  const path = createHash('sha256').update(realpathSync(folder)).digest('hex');
  return takeFreeLock(`batch/${path.slice(0, 32)}`, `process ${process.pid}`, (other) => {
    const hint = 'wait for it to end, or give --out another folder';
    const what = `the batch in ${folder} is being run by ${other}`;
    return new UsageError('BATCH_BUSY', what, { hint });
  });
}
