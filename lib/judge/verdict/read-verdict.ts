/** Reads what is asked for of a run's verdict.json, whichever version wrote it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { migrateVerdict } from '../../history/index.ts';
import { readJson } from '../../core/index.ts';
import { verdictSchema } from './verdict.ts';

/** A verdict as it is read: an older one does not tell whether somebody served. */
export const storedVerdict = verdictSchema.extend({
  serving: verdictSchema.shape.serving.nullable(),
});

/** Undefined where the run came to none. Throws UsageError `VERDICT_…` as `readJson` does. */
export function readVerdict<T>(folder: string, schema: z.ZodType<T>): T | undefined {
  const path = join(folder, 'verdict.json');
  if (!existsSync(path)) return undefined;
  return readJson(path, {
    ...{ kind: 'verdict', schema: z.preprocess(migrateVerdict, schema), version: 1 },
    hint: '`npx forcedetach report` makes it again from the run’s history',
    example: 'reports/samples/network-partition/verdict.json',
  });
}
