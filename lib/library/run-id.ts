/** What names a run in its files. */
import { createHash } from 'node:crypto';

/** On the model a run is its seed: the same one gives the same files, byte for byte. */
export const modelRunId = (seed: string): string =>
  createHash('sha256').update(seed).digest('hex').slice(0, 8);
