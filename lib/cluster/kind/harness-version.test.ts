import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { harnessVersion } from './harness-version.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'forcedetach-harness-'));
  for (const folder of ['lib/a', 'manifests']) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'package.json'), '{"version":"1.2.3"}');
  writeFileSync(join(root, 'lib/a/run.ts'), 'run');
  writeFileSync(join(root, 'manifests/pod.yaml'), 'pod');
});
afterEach(() => rmSync(root, { recursive: true }));

test('it has the version, and is the same for the same source', () => {
  expect(harnessVersion(root)).toMatch(/^1\.2\.3\+[0-9a-f]{12}$/);
  expect(harnessVersion(root)).toBe(harnessVersion(root));
  expect(harnessVersion()).toMatch(/^\d+\.\d+\.\d+\+[0-9a-f]{12}$/);
});

test('a changed or moved file makes another, a test does not', () => {
  const before = harnessVersion(root);
  writeFileSync(join(root, 'lib/a/run.test.ts'), 'a test');
  expect(harnessVersion(root)).toBe(before);
  renameSync(join(root, 'lib/a/run.ts'), join(root, 'lib/run.ts'));
  const moved = harnessVersion(root);
  expect(moved).not.toBe(before);
  writeFileSync(join(root, 'manifests/pod.yaml'), 'another pod');
  expect(harnessVersion(root)).not.toBe(moved);
});
