import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

/** Every file of a run of the command line, by its path. */
function filesOf(seed: string): Record<string, string> {
  const parent = mkdtempSync(join(tmpdir(), 'forcedetach-seed-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const folder = join(parent, 'run');
  const args = ['zx', 'experiments/controller-restart.mjs', '--cluster', 'sim'];
  try {
    execFileSync('npx', [...args, '--seed', seed, '--out', folder], { stdio: 'pipe' });
  } catch {
    // A verdict that was not expected has an exit code of its own; its files count all the same.
  }
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    files
      .filter((file) => file.isFile())
      .map(({ parentPath, name }) => [
        join(parentPath, name).slice(folder.length),
        readFileSync(join(parentPath, name), 'base64'),
      ]),
  );
}

test('on the model one seed gives the same files, byte for byte', { timeout: 120_000 }, () => {
  const [first, second] = [filesOf('7'), filesOf('7')];
  expect(Object.keys(first)).toContain('/verdict.json');
  expect(Object.keys(first).toSorted()).toEqual(Object.keys(second).toSorted());
  expect(Object.keys(first).filter((name) => first[name] !== second[name])).toEqual([]);
});
