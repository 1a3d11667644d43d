/** Whatever stood in git below `reports`, as far back as this clone's history goes. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

const maxBuffer = 1024 * 1024 * 1024;
const git = (...args: readonly string[]): Buffer => execFileSync('git', args, { maxBuffer });

export interface Committed {
  readonly hash: string;
  /** Where it stood, once at least. */
  readonly path: string;
}

/** Each version of every file or folder whose path fits. */
export function everCommitted(fits: RegExp): Committed[] {
  const lines = (...args: readonly string[]): string[] =>
    git(...args)
      .toString()
      .trim()
      .split('\n');
  const entries = lines('rev-list', 'HEAD', '--', 'reports').flatMap((commit) =>
    lines('ls-tree', '-r', '-t', commit, 'reports'),
  );
  const found = [...new Set(entries)].flatMap((entry) => {
    const [about = '', path = ''] = entry.split('\t');
    return fits.test(path) ? [[about.split(' ')[2] ?? '', path] as const] : [];
  });
  return [...new Map(found)].map(([hash, path]) => ({ hash, path }));
}

export const textOf = ({ hash }: Committed): string => git('cat-file', 'blob', hash).toString();

/** Unpacks a folder of git into another one, which is made. */
export function unpack({ hash }: Committed, folder: string): void {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-x', '-C', folder], { input: git('archive', hash) });
}
