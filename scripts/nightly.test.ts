/** The nightly job, on the model instead of hosted machines: shards, their merge, its summary. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { smallMatrix } from '../test/support/small-matrix.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'forcedetach-nightly-'));
afterAll(() => rmSync(folder, { recursive: true }));
const summary = join(folder, 'summary.md');
const file = join(folder, 'small.yaml');
writeFileSync(file, smallMatrix);

function nightly(words: readonly string[], shard = '1/2', kubernetes = '1.36'): Promise<number> {
  const env = {
    ...process.env,
    FORCEDETACH_SEED: 'one',
    FORCEDETACH_KUBERNETES: kubernetes,
    FORCEDETACH_SHARD: shard,
    FORCEDETACH_SHARDS: '2',
    FORCEDETACH_FOLDER: folder,
    GITHUB_STEP_SUMMARY: summary,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/nightly.ts', ...words], { cwd: root, env }, (error) =>
      resolve(error === null ? 0 : Number(error.code)),
    );
  });
}

test('two shards and their merge', { timeout: 120_000 }, async () => {
  for (const shard of ['1/2', '2/2']) {
    expect(await nightly(['shard', file, '--cluster', 'sim'], shard)).toBe(0);
  }
  expect(await nightly(['merge'])).toBe(0);
  expect(readFileSync(summary, 'utf8')).toMatch(/^## Kubernetes 1\.36\n\n### EXPECTED: small/);
  expect(existsSync(join(folder, '1.36/batch/report.html'))).toBe(true);

  const batch = join(folder, '1.36/shard-2/batch.json');
  const text = readFileSync(batch, 'utf8');
  expect(JSON.parse(text)).toMatchObject({ versions: { kubernetes: ['1.36'] } });
  writeFileSync(batch, text.replaceAll('"asExpected": true', '"asExpected": false'));
  expect(await nightly(['merge'])).toBe(1);
  writeFileSync(batch, text.replaceAll('"holds": true', '"holds": false'));
  expect(await nightly(['merge'])).toBe(3);

  writeFileSync(batch, text);
  renameSync(batch, `${batch}.gone`);
  expect(await nightly(['merge'])).toBe(3);
  expect(readFileSync(summary, 'utf8')).toContain('1 of 2 shards left no batch.');
});

test('another Kubernetes is a batch of its own', { timeout: 60_000 }, async () => {
  expect(await nightly(['merge'], '1/2', '1.35')).toBe(4);
  expect(readFileSync(summary, 'utf8')).toMatch(
    /## Kubernetes 1\.35\n\n2 of 2 shards left no batch\.\n$/,
  );
});

test('what is no shard leaves no batch, and fails', { timeout: 60_000 }, async () => {
  expect(await nightly(['shard', join(folder, 'none.yaml'), '--cluster', 'sim'], '3/3')).toBe(2);
  expect(await nightly(['pray'])).toBe(2);
});
