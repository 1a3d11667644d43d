/** What every command answers, whoever it is. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { projectVersion } from '../project-version.ts';

const root = join(import.meta.dirname, '../..');
const zx = join(root, 'node_modules/zx/build/cli.js');

test.concurrent.each([
  [zx, 'experiments/node-crash.mjs'],
  [zx, 'experiments/replay.mjs'],
  ['bin/forcedetach.mjs', 'doctor'],
  ['bin/forcedetach.mjs'],
  ['bin/forcedetach.mjs', 'run'],
  ['bin/forcedetach.mjs', 'run', 'zombie'],
  ['bin/kubectl-detach_probe.mjs'],
])('%s %s --version', async (...words) => {
  const { stdout } = await promisify(execFile)(process.execPath, [...words, '--version'], {
    cwd: root,
  });
  expect(stdout).toBe(`${projectVersion}\n`);
});
