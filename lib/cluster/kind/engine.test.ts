import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tryRun } from './engine.ts';

test('a command that is ended by its timeout has failed', { timeout: 30_000 }, async () => {
  const command = ['sh', '-c', 'trap "exit 0" TERM; sleep 20 & wait'];
  expect((await tryRun(command, { timeoutMs: 100 })).exitCode).toBe(-1);
});

test('one that ends in time says by itself how', async () => {
  expect((await tryRun(['sh', '-c', 'exit 3'], { timeoutMs: 60_000 })).exitCode).toBe(3);
});

test('output, input and environment go both ways', async () => {
  const lines: string[] = [];
  const said = await tryRun(['sh', '-c', 'cat; echo "$COLOUR"; echo on its way >&2; pwd'], {
    input: 'from here\n',
    env: { COLOUR: 'green' },
    onStderrLine: (line) => lines.push(line),
  });
  expect(said).toEqual({
    exitCode: 0,
    stdout: `from here\ngreen\n${process.cwd()}`,
    stderr: 'on its way',
  });
  expect(lines).toEqual(['on its way']);
});

test('a command begins without what a shell of the user begins with', async () => {
  const home = mkdtempSync(join(tmpdir(), 'fd-home-'));
  try {
    writeFileSync(join(home, '.bashrc'), 'touch "$HOME/was-read"\n');
    expect((await tryRun(['true'], { env: { HOME: home, SHLVL: '0' } })).exitCode).toBe(0);
    expect(existsSync(join(home, 'was-read'))).toBe(false);
  } finally {
    rmSync(home, { recursive: true });
  }
});

test('an abort ends the command, and its reason is thrown', async () => {
  const end = new AbortController();
  const name = `4${Date.now()}`;
  const slept = tryRun(['sleep', name], { signal: end.signal });
  while (!(await isRunning(name))) continue;
  end.abort(new Error('enough'));
  await expect(slept).rejects.toThrow('enough');
  expect(await isRunning(name)).toBe(false);
});

/** Also asked through the process that starts commands: it still answers. */
const isRunning = async (argument: string): Promise<boolean> =>
  (await tryRun(['pgrep', '-x', '-f', `sleep ${argument}`])).exitCode === 0;
