import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const anotherDay = new URL('../support/another-day.mjs', import.meta.url);
const root = fileURLToPath(new URL('../../', import.meta.url));

/** Every file of a run of the command line, by its path; `where` is its folder, below a new one. */
function filesOf(where: string, env: Readonly<Record<string, string>>): Record<string, string> {
  const parent = mkdtempSync(join(tmpdir(), 'forcedetach-seed-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const folder = join(parent, where);
  mkdirSync(folder, { recursive: true });
  const args = ['zx', 'experiments/controller-restart.mjs', '--cluster', 'sim'];
  try {
    execFileSync('npx', [...args, '--seed', '7', '--out', folder], {
      ...{ cwd: root, stdio: 'pipe', env: { ...process.env, ...env } },
    });
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

test('on the model one seed gives the same files, byte for byte, here and there, now and then', () => {
  const first = filesOf('run', { TZ: 'UTC', LANG: 'C' });
  const second = filesOf('elsewhere/and deeper', {
    ...{ TZ: 'Asia/Kathmandu', LANG: 'de_DE.UTF-8', COLUMNS: '40' },
    NODE_OPTIONS: `--import=${anotherDay.href}`,
  });
  expect(Object.keys(first)).toContain('/verdict.json');
  expect(Object.keys(first)).toContain('/report.html');
  expect(Object.keys(first).toSorted()).toEqual(Object.keys(second).toSorted());
  expect(Object.keys(first).filter((name) => first[name] !== second[name])).toEqual([]);
});
