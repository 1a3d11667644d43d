/** Raw records that only git's history has: `COMMIT:FOLDER`, as git writes it and as the store of measurements has it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { EvidenceError, UsageError } from '../lib/core/errors.ts';
import type { StoredLine } from '../lib/batch/measurements.ts';

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

/** Whether a checkout lacks what was committed before it was cloned. */
export const isShallow = (root: string): boolean =>
  execFileSync('git', ['rev-parse', '--is-shallow-repository'], {
    cwd: root,
    encoding: 'utf8',
  }).trim() === 'true';

/** A tree, or a folder of a commit, as `git archive` packs it. */
export const packedTree = (root: string, ...tree: readonly string[]): Buffer =>
  execFileSync('git', ['archive', '--format=tar', ...tree], {
    cwd: root,
    maxBuffer: 2 ** 30,
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** Into a folder, which is made. */
export function unpackTree(input: Buffer, into: string): void {
  mkdirSync(into, { recursive: true });
  execFileSync('tar', ['-x', '-C', into], { input });
}

/** Writes the folder below `into`, by its path, and gives that. `root`: a checkout. Throws EvidenceError. */
export function restore(root: string, named: string, into: string): string {
  const [, commit = '', folder = ''] = place.exec(named) ?? [];
  let packed: Buffer;
  try {
    packed = packedTree(root, commit, folder);
  } catch (cause) {
    if (isShallow(root)) {
      throw new EvidenceError('CLONE_SHALLOW', `this clone has no commit ${commit}`, {
        ...{ hint: 'raw records are in the history of a full clone', cause },
        command: 'git fetch --unshallow',
      });
    }
    throw new EvidenceError('RECORDS_MISSING', `git has no ${named}`, {
      ...{ hint: 'fetch the branch that has the commit', command: 'git fetch --all', cause },
    });
  }
  unpackTree(packed, into);
  return join(into, folder);
}
