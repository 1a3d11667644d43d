/** Runs commands, most in one warm process after the other, some in a process of their own; none for ever. */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isPreset } from '../../lib/core/program.ts';
import type { FuzzCase } from './case.ts';
import type { Ended, Task } from './worker.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** A case takes a second at most; a machine that is busy with others takes thirty times as long. */
const limitMs = 60_000;

/** `undefined`: it did not end. */
export type Result = Ended | undefined;

export class Runner implements AsyncDisposable {
  readonly #cwd: string;
  readonly #home: string;
  #worker: ChildProcess | undefined;
  #stderr = '';

  /** `cwd`: default deep enough that `../..` stays within `folder`. */
  constructor(folder: string, cwd?: string) {
    this.#home = join(folder, 'a', 'b', 'c', 'd');
    this.#cwd = cwd ?? this.#home;
    mkdirSync(this.#home, { recursive: true });
  }

  /** In the warm process. */
  async run({
    command,
    args,
    number,
  }: Pick<FuzzCase, 'command' | 'args' | 'number'>): Promise<Result> {
    const worker = (this.#worker ??= await this.#start());
    const [script, ...words] = scriptOf(command);
    const task: Task = { script, args: [...words, ...args], number };
    this.#stderr = '';
    worker.send(task);
    const listening = new AbortController();
    const { signal } = listening;
    const ended = await Promise.race([
      answerOf(worker, signal),
      crashOf(worker, signal),
      late(limitMs),
    ]);
    listening.abort();
    if (ended === 'late' || ended === 'crashed') {
      worker.kill('SIGKILL');
      this.#worker = undefined;
    }
    if (ended === 'crashed') return { code: undefined, stdout: '', stderr: this.#stderr };
    return ended === 'late' ? undefined : ended;
  }

  /** In a process of its own, as a user's shell starts it. */
  async spawned({ command, args }: Pick<FuzzCase, 'command' | 'args'>): Promise<Result> {
    const child = spawn(process.execPath, [...scriptOf(command), ...args], {
      ...{ cwd: this.#cwd, env: this.#environment(), stdio: ['ignore', 'pipe', 'pipe'] },
    });
    const said = { stdout: '', stderr: '' };
    child.stdout?.on('data', (data: Buffer) => (said.stdout += data.toString()));
    child.stderr?.on('data', (data: Buffer) => (said.stderr += data.toString()));
    const ended = once(child, 'close') as Promise<[number | null]>;
    const first = await Promise.race([ended, late(3 * limitMs)]);
    if (first !== 'late') return { code: first[0] ?? undefined, ...said };
    child.kill('SIGKILL');
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const gone = once(worker, 'exit');
    worker.kill('SIGKILL');
    await gone;
  }

  async #start(): Promise<ChildProcess> {
    const worker = fork(new URL('worker.ts', import.meta.url), {
      ...{ cwd: this.#cwd, env: this.#environment(), execArgv: [], silent: true },
    });
    worker.stderr?.on('data', (data: Buffer) => (this.#stderr += data.toString()));
    await once(worker, 'message');
    return worker;
  }

  /** No engine, no cluster, and nothing of the user's can be reached. */
  #environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env['PATH'],
      HOME: this.#home,
      XDG_STATE_HOME: join(this.#home, 'state'),
      DOCKER_HOST: `unix://${join(this.#home, 'no.sock')}`,
      KUBECONFIG: join(this.#home, 'no-kubeconfig'),
    };
  }
}

/** An experiment or a command of the tree by its name, any other program by its path. */
function scriptOf(command: string): readonly [string, ...string[]] {
  if (command.includes('/')) return [join(root, command)];
  if (isPreset(command)) return [join(root, `experiments/${command}.mjs`)];
  return [join(root, 'bin/forcedetach.mjs'), command];
}

/** Listening ends with the signal, and then nothing comes. */
const never = (): Promise<never> => new Promise(() => undefined);

const answerOf = (worker: ChildProcess, signal: AbortSignal): Promise<Ended> =>
  once(worker, 'message', { signal }).then(([ended]) => ended as Ended, never);

const crashOf = (worker: ChildProcess, signal: AbortSignal): Promise<'crashed'> =>
  once(worker, 'exit', { signal }).then(() => 'crashed' as const, never);

function late(ms: number): Promise<'late'> {
  return new Promise((resolve) => void setTimeout(() => resolve('late'), ms).unref());
}
