import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { connect } from './commands.ts';
import { endedByInput, openStream, run, tryRun } from './run.ts';

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

test('an error shows why kubeadm failed, not where in its source', async () => {
  const frames = Array.from(
    { length: 9 },
    (_, line) => `k8s.io/kubernetes/cmd/kubeadm/app.Run\n\tk8s.io/kubernetes/kubeadm.go:${line}`,
  );
  const said = ['[kubelet-check] it is not healthy', 'error execution phase wait', ...frames];
  const failed = run(['sh', '-c', 'echo "$0" >&2; exit 1', said.join('\n')]);
  await expect(failed).rejects.toThrow(/ended with 1: .*it is not healthy\n.*phase wait$/u);
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

const isRunning = async (argument: string): Promise<boolean> =>
  (await tryRun(['pgrep', '-x', '-f', `sleep ${argument}`])).exitCode === 0;

test('lines go both ways, and disposal ends the command without an error', async () => {
  const lines: string[] = [];
  const seen = Promise.withResolvers<void>();
  const stream = await openStream(['cat'], (line) => {
    lines.push(line);
    if (lines.length === 2) seen.resolve();
  });
  stream.write('one');
  stream.write('two');
  await seen.promise;
  await stream[Symbol.asyncDispose]();
  await stream.closed;
  expect(lines).toEqual(['one', 'two']);
});

test('a stream’s command that ends by itself says what it said', async () => {
  const stream = await openStream(['sh', '-c', 'echo no such loop >&2; exit 3'], () => undefined);
  await expect(stream.closed).rejects.toThrow(/ended with 3: no such loop/);
});

test.each([[['sleep', '60']], [endedByInput(['sleep', '60'])]])(
  'disposal ends a command that does not read its stdin: %j',
  async (argv) => {
    const stream = await openStream(argv, () => undefined);
    await stream[Symbol.asyncDispose]();
    await stream.closed;
  },
);

test('a stream’s command that does not exist is an error at once', async () => {
  await expect(openStream(['no-such-command'], () => undefined)).rejects.toThrow(/ENOENT/);
});

/** One that nobody has waited for yet has no command line any more. */
const isGone = async (pid: string): Promise<boolean> =>
  (await tryRun(['grep', '-q', '.', `/proc/${pid}/cmdline`])).exitCode !== 0;

const engine = fileURLToPath(new URL('run.ts', import.meta.url));

/** Each prints the number of a process that reads nothing. */
test.each([
  [
    'command',
    `import { tryRun } from ${JSON.stringify(engine)};
    const options = { onStderrLine: console.log, endsWithUs: true };
    await tryRun(['sh', '-c', 'sleep 1000 & echo $! >&2; wait'], options);`,
  ],
  [
    'stream',
    `import { endedByInput, openStream } from ${JSON.stringify(engine)};
    const argv = endedByInput(['sh', '-c', 'echo $$; exec sleep 1000']);
    await (await openStream(argv, console.log)).closed;`,
  ],
])('a %s ends with who asked for it, however that one ends', async (_, program) => {
  const argv = ['--input-type=module', '--eval', program];
  const parent = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
  parent.kill('SIGKILL');
  await expect.poll(() => isGone(String(pid).trim()), { timeout: 20_000 }).toBe(true);
});

test('such a command ends in time as any other', async () => {
  const ended = await tryRun(['sh', '-c', 'echo done; exit 4'], { endsWithUs: true });
  expect(ended).toEqual({ exitCode: 4, stdout: 'done', stderr: '' });
});

test('the runner’s thread comes first where that is allowed, and what it starts does not', async () => {
  const module = new URL('./run.ts', import.meta.url).href;
  const program = `
    const { putTimersFirst, run, tryRun } = await import(${JSON.stringify(module)});
    const isFirst = await putTimersFirst();
    const own = await run(['chrt', '--pid', String(process.pid)]);
    const child = await run(['sh', '-c', 'chrt --pid $$']);
    const missing = await tryRun(['no-such-command']);
    console.log(JSON.stringify({ isFirst, own, child, missing }));`;
  const printed = await run([process.execPath, '--input-type=module', '--eval', program]);
  const { isFirst, own, child, missing } = JSON.parse(printed) as Record<string, unknown>;
  expect(isFirst).toBe((await tryRun(['chrt', '--rr', '1', 'true'])).exitCode === 0);
  expect(own).toContain(isFirst === true ? 'SCHED_RR' : 'SCHED_OTHER');
  expect(child).toContain('SCHED_OTHER');
  expect(missing).toMatchObject({ exitCode: 127 });
});
