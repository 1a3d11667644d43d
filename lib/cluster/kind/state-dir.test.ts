import { existsSync } from 'node:fs';
import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { makeStateDir, removeStateDir } from './state-dir.ts';

const made: string[] = [];
afterEach(async () => {
  for (const path of made.splice(0)) await rm(path, { recursive: true, force: true });
});
async function scratch(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'fd-test-'));
  made.push(path);
  return path;
}

test('the directory lies in the state home and is removed again', async () => {
  const home = await scratch();
  const dir = await makeStateDir('main', { XDG_STATE_HOME: home });
  expect(dir.path).toBe(join(home, 'forcedetach', 'main'));
  expect(existsSync(dir.sockets) && existsSync(dir.patches)).toBe(true);
  await removeStateDir(dir.path);
  expect(existsSync(dir.path)).toBe(false);
});

test('a path too long for a socket is replaced by a short one', async () => {
  const home = join(await scratch(), 'x'.repeat(80));
  const dir = await makeStateDir('main', { XDG_STATE_HOME: home });
  made.push(dir.path);
  expect(dir.path.startsWith(join(tmpdir(), 'forcedetach-'))).toBe(true);
  await removeStateDir(dir.path);
  expect(existsSync(dir.path)).toBe(false);
});

test('a directory that is not ours is never removed', async () => {
  const precious = join(await scratch(), 'precious');
  await mkdir(precious);
  await removeStateDir(precious);
  await removeStateDir('');
  expect(existsSync(precious)).toBe(true);
});
