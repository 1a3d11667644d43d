import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { $ } from './shell.ts';

test('no command reads the user’s bashrc, also where no other shell is above it', async () => {
  const home = mkdtempSync(join(tmpdir(), 'forcedetach-home-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  writeFileSync(join(home, '.bashrc'), 'echo of the user\n');
  const { SHLVL: _level, ...above } = process.env;
  const { stdout } = await $({ quiet: true, env: { ...above, HOME: home } })`echo of the command`;
  expect(stdout).toBe('of the command\n');
});
