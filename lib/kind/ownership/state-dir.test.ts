import { existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { isComplete, makeStateDir, markComplete, removeStateDir } from './registry.ts';

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
  expect(await removeStateDir(dir.path, dir.token)).toBeUndefined();
  expect(existsSync(dir.path)).toBe(false);
});

test('nobody else can enter it, also where it was there before', async () => {
  const home = await scratch();
  await mkdir(join(home, 'forcedetach', 'main', 's'), { recursive: true, mode: 0o777 });
  const dir = await makeStateDir('main', { XDG_STATE_HOME: home });
  const modes = [dir.path, dir.sockets].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o700, 0o700]);
});

test('a path too long for a socket is replaced by a short one', async () => {
  const home = join(await scratch(), 'x'.repeat(80));
  const dir = await makeStateDir('main', { XDG_STATE_HOME: home });
  made.push(dir.path);
  expect(dir.path.startsWith(join(tmpdir(), 'forcedetach-'))).toBe(true);
  await removeStateDir(dir.path, dir.token);
  expect(existsSync(dir.path)).toBe(false);
});

test('nobody else may look into it: the relays’ sockets lead to a database without a password', async () => {
  const dir = await makeStateDir('main', { XDG_STATE_HOME: await scratch() });
  expect(statSync(dir.path).mode & 0o777).toBe(0o700);
});

test('what a forged or wrong label names is never removed', async () => {
  const home = await scratch();
  const precious = join(home, 'forcedetach', 'precious');
  await mkdir(precious, { recursive: true });
  const ours = await makeStateDir('main', { XDG_STATE_HOME: home });
  const link = join(home, 'link');
  await symlink(ours.path, link);
  for (const [path, token] of [
    [precious, ours.token],
    [precious, ''],
    [ours.path, 'another'],
    [ours.path, ''],
    [link, ours.token],
  ] as const) {
    expect(await removeStateDir(path, token)).toContain('is not the cluster’s directory');
  }
  expect(await removeStateDir('', '')).toBeUndefined();
  expect(existsSync(precious) && existsSync(ours.path)).toBe(true);
});

test('a folder with our name is left to whom it belongs', async () => {
  const home = await scratch();
  const theirs = join(home, 'forcedetach', 'main');
  await mkdir(theirs, { recursive: true });
  await writeFile(join(theirs, 'thesis'), '');
  const dir = await makeStateDir('main', { XDG_STATE_HOME: home });
  made.push(dir.path);
  expect(dir.path).not.toBe(theirs);
  expect(await readdir(theirs)).toEqual(['thesis']);
});

test('what a dead start left there is replaced', async () => {
  const home = await scratch();
  const left = await makeStateDir('main', { XDG_STATE_HOME: home });
  await writeFile(left.kubeconfig, 'of the dead one');
  const dir = await makeStateDir('main', { XDG_STATE_HOME: home });
  expect(dir.path).toBe(left.path);
  expect(dir.token).not.toBe(left.token);
  expect(existsSync(dir.kubeconfig)).toBe(false);
});

test('a directory of another cluster is not complete', async () => {
  const dir = await makeStateDir('main', { XDG_STATE_HOME: await scratch() });
  await markComplete(dir);
  expect(isComplete(dir.path, dir.token)).toBe(true);
  for (const token of ['', 'another']) expect(isComplete(dir.path, token)).toBe(false);
});
