import { chmodSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { contentKey } from '../../core/source.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forcedetach-part-'));
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'recipe'), 'one');
  writeFileSync(join(folder, 'sub', 'file'), 'two');
});

const key = (settings: string[] = []): string => contentKey([folder], settings);

test('content, name, mode and settings each change the key', () => {
  const keys = [key(), key(['1.34.4'])];
  writeFileSync(join(folder, 'sub', 'file'), 'three');
  keys.push(key());
  chmodSync(join(folder, 'recipe'), 0o755);
  keys.push(key());
  renameSync(join(folder, 'recipe'), join(folder, 'other'));
  keys.push(key());
  expect(new Set(keys).size).toBe(keys.length);
});

test('bytes cannot move from one file to the next unseen', () => {
  const before = key();
  writeFileSync(join(folder, 'recipe'), 'onet');
  writeFileSync(join(folder, 'sub', 'file'), 'wo');
  expect(key()).not.toBe(before);
});
