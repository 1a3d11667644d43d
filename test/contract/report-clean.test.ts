/** Made again, a committed report is what git holds: `report.mjs` over such a folder leaves the tree clean. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { committedFiles } from '../support/committed.ts';

const copies = mkdtempSync(join(tmpdir(), 'forcedetach-reports-'));
afterAll(() => rmSync(copies, { recursive: true }));

test.each([
  'reports/samples/partition-force-delete-unfenced',
  'reports/samples/node-crash-trx-commit-2',
  'reports/matrix/default-short',
])('%s', async (folder) => {
  const committed = committedFiles(folder);
  for (const file of committed) cpSync(file, join(copies, file));
  const copy = join(copies, folder);
  await $({ quiet: true, nothrow: true })`node experiments/report.mjs ${copy}/`;
  const files = await $({ cwd: copies, quiet: true })`find ${folder} -type f`;
  for (const file of files.stdout.trim().split('\n')) {
    if (committed.includes(file)) {
      const made = readFileSync(join(copies, file), 'latin1').replaceAll(copy, folder);
      expect(made === readFileSync(file, 'latin1'), file).toBe(true);
    } else {
      const ignored = await $({ quiet: true, nothrow: true })`git check-ignore ${file}`;
      expect(ignored.exitCode, `${file} is neither held nor ignored`).toBe(0);
    }
  }
});
