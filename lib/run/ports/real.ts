/** A database whose servers are real, in this process and in others. */
import { join } from 'node:path';
import { projectRoot, UsageError } from '../../core/index.ts';
import type { Database } from './database.ts';
import type { DefinedIn, RealDatabase } from './server-port.ts';

/** Throws UsageError `DATABASE_NOT_REAL` where only the model plays it. */
export function realOf({ real, title }: Pick<Database, 'real' | 'title'>): RealDatabase {
  if (real !== undefined) return real;
  throw new UsageError('DATABASE_NOT_REAL', `${title} has no servers for a real cluster`, {
    hint: 'play it on the model: --cluster sim, or simulated() in the library',
  });
}

/** For a process that was started with the place alone. */
export async function importDatabase(place: DefinedIn): Promise<Database> {
  const exported = (await import(join(projectRoot, place.module))) as Record<string, Database>;
  const database = exported[place.name];
  if (database === undefined) throw new RangeError(`${place.module} exports no ${place.name}`);
  return database;
}
