/**
 * Files that git holds. Tests read no others below `reports`: the runs of whoever works in this checkout lie
 * there too. `reports/samples` has whole runs; `reports/corpus` has packed histories.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { packedTree, unpackTree } from '../../scripts/restored.ts';

const maxBuffer = 1024 * 1024 * 1024;
const root = join(import.meta.dirname, '../..');
const git = (...args: readonly string[]): Buffer =>
  execFileSync('git', args, { cwd: root, maxBuffer });

/** Below a folder, at any depth, by their paths from the root. */
export const committedFiles = (folder = '.'): string[] =>
  git('ls-files', '-z', '--', folder)
    .toString()
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(root, file)));

/** Names of the folders in it, sorted. */
export const committedNames = (folder: string): string[] => {
  const inside = committedFiles(folder).map((file) => file.slice(folder.length + 1).split('/'));
  const names = inside.flatMap(([name = '', ...more]) => (more.length > 0 ? [name] : []));
  return [...new Set(names)].toSorted();
};

/** Folders at any depth that hold such a file: `verdict.json`, `history/run.hist`. */
export const committedWith = (file: string, folder = 'reports'): string[] =>
  committedFiles(folder)
    .filter((path) => path.endsWith(`/${file}`))
    .map((path) => path.slice(0, -file.length - 1))
    .toSorted();

export interface Committed {
  readonly hash: string;
  /** Where it stood, once at least. */
  readonly path: string;
}

/** Each version of every file or folder below `reports` whose path fits, as far back as this clone's history goes. */
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
export const unpack = ({ hash }: Committed, folder: string): void =>
  unpackTree(packedTree(root, hash), folder);

const corpus = 'reports/corpus';
const cache = join(root, 'node_modules/.cache/forcedetach/histories');

/** The folder of a run whose history is packed (`NAME.tar.zst`), unpacked once. */
export function unpackedRun(file: string): string {
  const packed = readFileSync(join(root, file));
  const place = join(cache, createHash('sha256').update(packed).digest('hex').slice(0, 16));
  const name = basename(file, '.tar.zst');
  if (!existsSync(place)) {
    mkdirSync(cache, { recursive: true });
    const fresh = mkdtempSync(join(cache, 'new-'));
    mkdirSync(join(fresh, name));
    execFileSync('tar', ['-x', '-C', join(fresh, name)], { input: zstdDecompressSync(packed) });
    try {
      renameSync(fresh, place);
    } catch {
      // Another process unpacked it meanwhile.
      rmSync(fresh, { recursive: true });
    }
  }
  return join(place, name);
}

/** Names in the corpus: of runs, or of groups. */
export const corpusNames = (of: 'runs' | 'groups'): string[] =>
  committedFiles(corpus)
    .map((file) => basename(file, '.tar.zst'))
    .filter((name) => name.startsWith('group-') === (of === 'groups'));

/** The folder of one of the corpus. */
export const corpusRun = (name: string): string => unpackedRun(join(corpus, `${name}.tar.zst`));
