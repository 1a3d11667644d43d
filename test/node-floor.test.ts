/** On a machine with an older Node every command works under the Node of `npm ci`, or says what is missing. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** The machine's own Node, where that is too old. */
const oldNode = ['/usr/local/bin/node', '/usr/bin/node'].find(
  (path) =>
    existsSync(path) &&
    /^v(1\d|2[0-3])\./.test(execFileSync(path, ['--version'], { encoding: 'utf8' })),
);
const npx = oldNode === undefined ? '' : join(dirname(oldNode), 'npx');

function onOldNode(file: string, ...args: string[]): { status: number | null; text: string } {
  const env = { ...process.env, PATH: `${dirname(oldNode ?? '')}:/usr/bin:/bin` };
  const { status, stdout, stderr } = spawnSync(file, args, { cwd: root, env, encoding: 'utf8' });
  return { status, text: stdout + stderr };
}

const entries = ['experiments', 'bin'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => `${folder}/${name}`),
);

test.each(entries)('%s imports nothing but what checks the Node first', (file) => {
  const imports = read(file).match(/\b(from|import)[ (]'.*'/g);
  expect(imports).toEqual(["from '../lib/cli/start.mjs'"]);
});

test.each(['lib/cli/start.mjs', 'scripts/ci.ts/main.mjs'])(
  '%s checks the Node before it imports TypeScript',
  (file) => {
    const text = read(file);
    const check = text.indexOf('/node-floor.mjs');
    expect(check).toBeGreaterThan(0);
    expect(text.indexOf('await import(')).toBeGreaterThan(check);
  },
);

test.skipIf(oldNode === undefined)('commands work on an older Node', () => {
  const node = oldNode ?? '';
  expect(onOldNode(node, 'bin/forcedetach.mjs', '--version')).toMatchObject({ status: 0 });
  expect(onOldNode(node, 'experiments/doctor.mjs', '--help')).toMatchObject({ status: 0 });
  const task = ['scripts/ci.ts', 'pray'];
  const refused = { status: 2, text: expect.stringContaining('BAD_TASK') };
  expect(onOldNode(npx, 'node', ...task)).toMatchObject(refused);
  expect(onOldNode(node, ...task)).toMatchObject(refused);
});

test.skipIf(oldNode === undefined)('without another one it says so in one sentence', () => {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-node-'));
  try {
    copyFileSync(join(root, 'lib/cli/node-floor.mjs'), join(folder, 'node-floor.mjs'));
    const { status, text } = onOldNode(oldNode ?? '', join(folder, 'node-floor.mjs'));
    expect(status).toBe(2);
    expect(text).toMatch(/^NODE_TOO_OLD: .* needs 24\.12 or newer\n {2}hint: install Node 24\n$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
