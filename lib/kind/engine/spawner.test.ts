/** The process that starts commands: replaced when it dies, and gone with its parent. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { spawnStream, tryRun } from './run.ts';

const engine = fileURLToPath(new URL('run.ts', import.meta.url));
const parentOf = 'cut -d " " -f 4 /proc/$$/stat';

/** One that nobody has waited for yet has no command line any more. */
const isGone = async (pid = ''): Promise<boolean> =>
  (await tryRun(['grep', '-q', '.', `/proc/${pid}/cmdline`])).exitCode !== 0;

test('where it is killed its commands fail, and the next one has a new process', async () => {
  const slept = tryRun(['sleep', '20']);
  const { stdout } = await tryRun(['sh', '-c', parentOf]);
  process.kill(Number(stdout), 'SIGKILL');
  await expect(slept).rejects.toThrow('is gone: it ended with SIGKILL');
  const next = await tryRun(['sh', '-c', parentOf]);
  expect(next.exitCode).toBe(0);
  expect(next.stdout).not.toBe(stdout);
});

test('where it is killed a stream ends with an error, and its command with it', async () => {
  const pid = Promise.withResolvers<string>();
  const stream = await spawnStream(['sh', '-c', 'echo $PPID $$; exec cat'], pid.resolve);
  const [parent, child] = (await pid.promise).split(' ');
  process.kill(Number(parent), 'SIGKILL');
  await expect(stream.closed).rejects.toThrow('is gone: it ended with SIGKILL');
  await expect.poll(() => isGone(child), { timeout: 20_000 }).toBe(true);
  await stream[Symbol.asyncDispose]();
});

/** Each prints the number of a process that reads nothing, so that no end of its input ends it. */
test.each([
  [
    'command',
    `import { tryRun } from ${JSON.stringify(engine)};
    await tryRun(['sh', '-c', 'echo $$ >&2; exec sleep 1000'], { onStderrLine: console.log });`,
  ],
  [
    'stream',
    `import { spawnStream } from ${JSON.stringify(engine)};
    const { closed } = await spawnStream(['sh', '-c', 'echo $$; exec sleep 1000'], console.log);
    await closed;`,
  ],
])('a %s ends with who asked for it, however that one ends', async (_, program) => {
  const argv = ['--input-type=module', '--eval', program];
  const parent = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
  parent.kill('SIGKILL');
  await expect.poll(() => isGone(String(pid).trim()), { timeout: 20_000 }).toBe(true);
});

test('it holds nobody up, and ends with who started it', async () => {
  const program = `import { tryRun } from ${JSON.stringify(engine)};
    console.log((await tryRun(['sh', '-c', ${JSON.stringify(parentOf)}])).stdout);`;
  const { exitCode, stdout } = await tryRun([
    ...[process.execPath, '--input-type=module', '--eval', program],
  ]);
  expect(exitCode).toBe(0);
  expect(Number(stdout)).toBeGreaterThan(1);
  await expect.poll(() => isGone(stdout), { timeout: 20_000 }).toBe(true);
});
