/**
 * The database that is measured, as the rest knows it: the built-in one, or what a caller of the library
 * brought for the work under way. So it is read when it is needed, and nothing of it is kept.
 */
import { UsageError } from '../errors.ts';
import { mysql } from '../mysql/database.ts';
import type { BroughtDatabase, Database } from './port.ts';

/** Its own part of an audit is chosen in checks.ts and evidence.ts. */
export const builtIn: Database = mysql;

export let database: Database = builtIn;

/** Undefined while the built-in one is taken. */
export let brought: BroughtDatabase | undefined;

let works = 0;

/**
 * All that asks for the database until the work ends gets this one; undefined is the built-in one.
 * Throws UsageError `DATABASE_BUSY` while work with another one goes on.
 */
export async function withDatabase<T>(
  chosen: BroughtDatabase | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (works > 0 && chosen !== brought) {
    const wish = (chosen ?? builtIn).name;
    throw new UsageError(
      'DATABASE_BUSY',
      `a run with \`${wish}\` cannot start while a run with \`${database.name}\` is going on`,
      {
        hint: 'await the first run, or use one process for each; runs with the same value may overlap',
      },
    );
  }
  works += 1;
  take(chosen);
  try {
    return await work();
  } finally {
    works -= 1;
    if (works === 0) take(undefined);
  }
}

function take(chosen: BroughtDatabase | undefined): void {
  brought = chosen;
  database = chosen ?? builtIn;
}
