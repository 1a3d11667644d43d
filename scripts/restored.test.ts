/** Records that a later commit removed come back from a full clone; a shallow clone says what it lacks. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { placesOf, restore } from './restored.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-restored-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (...names: readonly string[]): string => join(folder, ...names);

const git = (where: string, ...words: readonly string[]): string => {
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.org'];
  return execFileSync('git', ['-C', where, ...who, ...words], { encoding: 'utf8' }).trim();
};

const run = 'reports/matrix/short/cells/01.1';
let commit: string;
beforeAll(() => {
  mkdirSync(at('full', run, 'history'), { recursive: true });
  git(folder, 'init', '-q', 'full');
  writeFileSync(at('full', run, 'history/run.hist'), 'raw');
  git(at('full'), 'add', '.');
  git(at('full'), 'commit', '-qm', 'Record');
  commit = git(at('full'), 'rev-parse', 'HEAD');
  git(at('full'), 'rm', '-rq', 'reports');
  git(at('full'), 'commit', '-qm', 'Remove', '--allow-empty');
  git(folder, 'clone', '-q', '--depth', '1', `file://${at('full')}`, 'shallow');
});

test('a full clone has them', () => {
  const restored = restore(at('full'), `${commit}:${run}`, at('out'));
  expect(restored).toBe(at('out', run));
  expect(readFileSync(join(restored, 'history/run.hist'), 'utf8')).toBe('raw');
});

test.each([
  ['shallow', () => commit, 'CLONE_SHALLOW', 'git fetch --unshallow'],
  ['full', () => commit.replaceAll(/./g, '0'), 'RECORDS_MISSING', 'git fetch --all'],
])('a %s clone that lacks them says so', (clone, named, code, command) => {
  expect(() => restore(at(clone), `${named()}:${run}`, at('none'))).toThrow(
    expect.objectContaining({ code, command, hint: expect.any(String) as string }),
  );
});

const line = {
  ...{ kind: 'run', id: 'a1', scenario: {}, seed: null, outcome: {}, basis: null, versions: {} },
  ...{ source: 'reports/matrix/short', date: null },
} as const;

test('lines of the store name them, by id or by source', () => {
  const own = `${commit}:${run}`;
  const lines = [
    { ...line, records: own },
    { ...line, id: 'a2', records: `${own}b` },
    { ...line, id: 'a3' },
  ];
  expect(placesOf('a1', lines)).toEqual([own]);
  expect(placesOf('reports/matrix/short', lines)).toEqual([own, `${own}b`]);
  expect(placesOf(own, [])).toEqual([own]);
  for (const name of ['a3', 'a4']) {
    expect(() => placesOf(name, lines)).toThrow(
      expect.objectContaining({ code: 'RECORDS_UNKNOWN' }),
    );
  }
});
