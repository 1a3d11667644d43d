import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { UsageError } from './errors.ts';
import { mebibyte, readText } from './input-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-input-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

function codeOf(path: string, mostBytes?: number): string {
  try {
    readText(path, mostBytes);
  } catch (error) {
    if (error instanceof UsageError) return error.code;
    throw error;
  }
  return 'read';
}

test('a regular file is read whole, also one whose size the system does not say', () => {
  writeFileSync(at('whole'), 'all of it');
  expect(readText(at('whole'))).toBe('all of it');
  expect(readText('/proc/self/status')).toContain('VmRSS');
});

test('a pipe that nobody writes to is refused, not waited for', () => {
  execFileSync('mkfifo', [at('pipe')]);
  expect(codeOf(at('pipe'))).toBe('FILE_NOT_REGULAR');
});

test.each(['/dev/zero', '/dev/null', '/'])('%s is no regular file', (path) => {
  expect(codeOf(path)).toBe('FILE_NOT_REGULAR');
});

test('what is not there, or leads nowhere, can’t be read', () => {
  expect(codeOf(at('nothing'))).toBe('FILE_UNREADABLE');
  expect(codeOf(`${at('nul')}\0`)).toBe('FILE_UNREADABLE');
});

test('nothing larger than stated comes into memory', () => {
  writeFileSync(at('large'), '');
  truncateSync(at('large'), 2 ** 40);
  expect(codeOf(at('large'))).toBe('FILE_TOO_LARGE');
  writeFileSync(at('edge'), Buffer.alloc(mebibyte));
  expect(codeOf(at('edge'), mebibyte)).toBe('read');
  expect(codeOf(at('edge'), mebibyte - 1)).toBe('FILE_TOO_LARGE');
  mkdirSync(at('folder'));
  expect(codeOf(at('folder'))).toBe('FILE_NOT_REGULAR');
});
