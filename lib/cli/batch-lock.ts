/** One process at a time on a batch's folder: two would both append to its results. */
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { UsageError } from '../errors.ts';
import { lockHolder, takeLock, type Lock } from '../lock.ts';

/** The folder exists. Throws UsageError `BATCH_BUSY` when another process runs its batch. */
export async function lockBatch(folder: string): Promise<Lock> {
  const path = createHash('sha256').update(realpathSync(folder)).digest('hex');
  const name = `batch/${path.slice(0, 32)}`;
  try {
    return await takeLock(name, `process ${process.pid}`);
  } catch (cause) {
    const other = (await lockHolder(name)) ?? 'another process';
    throw new UsageError('BATCH_BUSY', `the batch in ${folder} is being run by ${other}`, {
      hint: 'wait for it to end, or give --out another folder',
      cause,
    });
  }
}
