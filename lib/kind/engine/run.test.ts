import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from './commands.ts';
import { run, tryRun } from './run.ts';

test('a command that is ended by its timeout has failed', async () => {
  const command = ['sh', '-c', 'trap "exit 0" TERM; sleep 20 & wait'];
  expect((await tryRun(command, { timeoutMs: 100 })).exitCode).toBe(-1);
});

test('a command that nothing ends holds nobody up', async () => {
  // Deaf to SIGTERM, and a child that has left its group keeps its output open.
  const deaf = 'trap "" TERM; setsid sleep 20 & while true; do sleep 1; done';
  const beganMs = performance.now();
  const ended = await tryRun(['sh', '-c', deaf], { timeoutMs: 500 });
  expect(ended).toEqual({ exitCode: -1, stdout: '', stderr: '', lateMs: 500 });
  expect(performance.now() - beganMs).toBeLessThan(6000);
});

test('a hanging engine is an error that says what to do by hand', async () => {
  const bin = mkdtempSync(join(tmpdir(), 'fd-bin-'));
  try {
    writeFileSync(join(bin, 'docker'), '#!/bin/sh\nexec sleep 30\n', { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    const argv = connect('fd-main', 'fd-main-worker', '172.30.0.3');
    await expect(run(argv, { env, timeoutMs: 300 })).rejects.toMatchObject({
      code: 'COMMAND_TIMED_OUT',
      message: '`docker network connect --ip …` did not end within 0.3 s',
      command: 'docker network connect --ip 172.30.0.3 fd-main fd-main-worker',
    });
  } finally {
    rmSync(bin, { recursive: true });
  }
});

test('a process that starts commands and stands still holds nobody up', async () => {
  const parent = (await tryRun(['sh', '-c', 'cut -d " " -f 4 /proc/$$/stat'])).stdout;
  process.kill(Number(parent), 'SIGSTOP');
  try {
    expect((await tryRun(['true'], { timeoutMs: 200 })).lateMs).toBe(200);
    const end = new AbortController();
    const aborted = tryRun(['true'], { signal: end.signal });
    end.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
  } finally {
    process.kill(Number(parent), 'SIGCONT');
  }
  expect((await tryRun(['true'])).exitCode).toBe(0);
});

test('a command that is not there says so as a shell does', async () => {
  expect(await tryRun(['no-such-command'])).toEqual({
    exitCode: 127,
    stdout: '',
    stderr: 'no-such-command: command not found',
  });
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
