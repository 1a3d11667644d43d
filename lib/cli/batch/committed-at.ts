/** When git got a file as it is now. */
import { execFileSync } from 'node:child_process';
import { EvidenceError } from '../../errors.ts';

/**
 * The author's date of the last commit that changed it: a rebase leaves that as it is. Undefined where
 * the history does not go back so far, or no git is there. Throws EvidenceError `FORECAST_UNCOMMITTED`.
 */
export function committedAt(path: string): Date | undefined {
  const shallow = git('rev-parse', '--is-shallow-repository');
  if (shallow === undefined || shallow === 'true') return undefined;
  const at = git('log', '-1', '--format=%aI', '--', path);
  if (at !== undefined && at !== '' && git('status', '--porcelain', '--', path) === '') {
    return new Date(at);
  }
  throw new EvidenceError('FORECAST_UNCOMMITTED', `git does not hold ${path} as it is now`, {
    hint: 'commit a forecast before its matrix runs',
    command: `git log -- ${path}`,
  });
}

function git(...words: readonly string[]): string | undefined {
  try {
    return execFileSync('git', words, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}
