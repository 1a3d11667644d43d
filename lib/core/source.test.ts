import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { harnessKey, harnessVersion } from './source.ts';

let root: string;
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'forcedetach-harness-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  write('lib/scenario/faults/crash.ts', 'one');
  write('lib/storage/csi/array/main.go', 'two');
  write('manifests/pod.yaml', 'three');
});

test('it is the version and 12 hex digits, the same each time', () => {
  expect(harnessVersion()).toMatch(/^\d+\.\d+\.\d+\+[0-9a-f]{12}$/);
  expect(harnessVersion()).toBe(harnessVersion());
});

test('code and manifests each change it, and so does the place of a file', () => {
  const keys = [harnessKey(root)];
  const note = (): void => void keys.push(harnessKey(root));
  write('lib/scenario/faults/crash.ts', 'two');
  note();
  write('lib/storage/csi/array/main.go', 'three');
  note();
  write('manifests/pod.yaml', 'four');
  note();
  write('lib/start.sh', 'five');
  note();
  mkdirSync(join(root, 'lib/scenario/remedies'));
  renameSync(
    join(root, 'lib/scenario/faults/crash.ts'),
    join(root, 'lib/scenario/remedies/crash.ts'),
  );
  note();
  expect(new Set(keys).size).toBe(keys.length);
});

test('tests, pages and everything beside them do not', () => {
  const before = harnessKey(root);
  write('lib/scenario/faults/crash.test.ts', 'one');
  write('lib/storage/csi/array/main_test.go', 'one');
  write('lib/report/page.ts', 'one');
  write('lib/report/export/elle.ts', 'one');
  write('lib/batch/counted.ts', 'one');
  write('docs/matrix.md', 'one');
  write('node_modules/zod/index.js', 'one');
  expect(harnessKey(root)).toBe(before);
});
