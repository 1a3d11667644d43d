/** Raw records that only git's history has: `COMMIT:FOLDER`, as git writes it and as the store of measurements has it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { EvidenceError, UsageError } from '../lib/errors.ts';
import type { StoredLine } from '../lib/measurements/store.ts';

const place = /^([0-9a-f]{40}):([\w./-]+)$/;

/** Those of every line with that id or source, or the place itself. Throws UsageError `RECORDS_UNKNOWN`. */
export function placesOf(name: string, lines: readonly StoredLine[]): string[] {
  if (place.test(name)) return [name];
  const named = lines.filter(({ id, source }) => id === name || source === name);
  const places = [...new Set(named.flatMap(({ records }) => records ?? []))];
  if (places.length > 0) return places;
  throw new UsageError(
    'RECORDS_UNKNOWN',
    named.length > 0
      ? `git has no raw records of ${name}`
      : `data/measurements.jsonl has no line with the id or source ${JSON.stringify(name)}`,
    { hint: 'give an id or a source of a line that has `records`' },
  );
}

/** Writes the folder below `into`, by its path, and gives that. `root`: a checkout. Throws EvidenceError. */
export function restore(root: string, named: string, into: string): string {
  const [, commit = '', folder = ''] = place.exec(named) ?? [];
  const git = (...words: readonly string[]): Buffer =>
    execFileSync('git', words, {
      cwd: root,
      maxBuffer: 2 ** 30,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  let packed: Buffer;
  try {
    packed = git('archive', '--format=tar', commit, folder);
  } catch (cause) {
    if (git('rev-parse', '--is-shallow-repository').toString().trim() === 'true') {
      throw new EvidenceError('CLONE_SHALLOW', `this clone has no commit ${commit}`, {
        ...{ hint: 'raw records are in the history of a full clone', cause },
        command: 'git fetch --unshallow',
      });
    }
    throw new EvidenceError('RECORDS_MISSING', `git has no ${named}`, {
      ...{ hint: 'fetch the branch that has the commit', command: 'git fetch --all', cause },
    });
  }
  mkdirSync(into, { recursive: true });
  execFileSync('tar', ['-x', '-C', into], { input: packed });
  return join(into, folder);
}
