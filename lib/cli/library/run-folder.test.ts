import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { UsageError } from '../../core/errors.ts';
import { checkFolder, checkNewFolder, makeFolder, makeNewFolder } from './run-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-out-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
writeFileSync(at('file'), '');
symlinkSync(at('nowhere'), at('dangling'));

function codeOf(make: () => void): string {
  try {
    make();
  } catch (error) {
    if (error instanceof UsageError) return error.code;
    throw error;
  }
  return 'made';
}

const unusable = [
  at('file'),
  at('file/below'),
  at('dangling'),
  at('dangling/below'),
  '/dev/full',
  '/proc/x',
  '/proc/self/x/y',
  `${at('long')}${'x'.repeat(300)}`,
  `${at('nul')}\0`,
];

test.each(unusable)('nothing can be written into %j', (path) => {
  expect(codeOf(() => makeFolder(path))).toBe('OUT_UNUSABLE');
});

test.each(unusable.slice(0, 5))('%j is refused before anything is made', (path) => {
  expect(codeOf(() => checkFolder(path))).toBe('OUT_UNUSABLE');
});

test('a check makes nothing; then the folder is there, and empty', () => {
  const deep = at("it's a tést/a/b");
  expect(codeOf(() => checkFolder(deep))).toBe('made');
  expect(existsSync(at("it's a tést"))).toBe(false);
  makeNewFolder(deep);
  expect(readdirSync(deep)).toEqual([]);
});

test('a folder with something in it is no run’s', () => {
  mkdirSync(at('full'));
  writeFileSync(at('full/x'), '');
  expect(codeOf(() => checkNewFolder(at('full')))).toBe('OUT_NOT_EMPTY');
});
