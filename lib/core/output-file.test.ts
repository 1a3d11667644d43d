import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { OutputFile, writeOutput } from './files.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-output-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('what throws half way leaves the old content where it was', () => {
  const path = join(folder, 'kept.html');
  writeFileSync(path, 'good');
  const half = (): void => {
    using file = new OutputFile(path);
    file.add('x'.repeat(1_000_000));
    throw new Error('no more');
  };
  expect(half).toThrow('no more');
  expect(readFileSync(path, 'utf8')).toBe('good');
  expect(readdirSync(folder).filter((name) => name.endsWith('.new'))).toEqual([]);
});

test.skipIf(process.getuid?.() !== 0)('a full disk destroys no good page', () => {
  const small = mkdtempSync(join(tmpdir(), 'forcedetach-full-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', small]);
  try {
    const path = join(small, 'report.html');
    writeOutput(path, 'good');
    expect(() => writeOutput(path, 'x'.repeat(1_000_000))).toThrow(/ENOSPC/);
    expect(readFileSync(path, 'utf8')).toBe('good');
    expect(readdirSync(small)).toEqual(['report.html']);
  } finally {
    execFileSync('umount', [small]);
    rmSync(small, { recursive: true });
  }
});
