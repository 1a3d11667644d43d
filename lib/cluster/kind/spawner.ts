/**
 * Starts commands in a small process of its own. To start one, node copies the page tables of its
 * process, and does nothing else meanwhile: with the 500 MB of a batch that took 0.2 to 0.6 s on a
 * busy machine, each time, and the runner's timers were as late.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { InfrastructureError } from '../../errors.ts';
import type { CommandRequest, CommandResult, CommandWatch } from './command.ts';

export type ToSpawner =
  | { readonly type: 'run'; readonly id: number; readonly request: CommandRequest }
  | { readonly type: 'abort'; readonly id: number };

export type FromSpawner =
  | { readonly type: 'line'; readonly id: number; readonly line: string }
  | { readonly type: 'end'; readonly id: number; readonly result: CommandResult }
  | { readonly type: 'failed'; readonly id: number; readonly reason: string };

interface Waiting {
  readonly hear: (message: FromSpawner) => void;
  readonly reject: (error: Error) => void;
}

class Spawner {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(onEnd: () => void) {
    const path = fileURLToPath(new URL('spawner-process.ts', import.meta.url));
    // A group of its own, as its commands have: Ctrl-C must not end what heals.
    this.#child = fork(path, {
      detached: true,
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.unref();
    this.#child.channel?.unref();
    this.#child.on('message', (message: FromSpawner) =>
      this.#waiting.get(message.id)?.hear(message),
    );
    this.#child.once('error', (error) => this.#fail(error.message));
    this.#child.once('exit', (code, signal) => {
      onEnd();
      this.#fail(`it ended with ${signal ?? `exit code ${code}`}`);
    });
  }

  async run(
    request: CommandRequest,
    { signal, onStderrLine }: CommandWatch,
  ): Promise<CommandResult> {
    const id = (this.#lastId += 1);
    const abort = (): void => this.#send({ type: 'abort', id });
    const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
    const hear = (message: FromSpawner): void => {
      if (message.type === 'line') onStderrLine(message.line);
      else if (message.type === 'end') resolve(message.result);
      else reject(new Error(message.reason));
    };
    this.#waiting.set(id, { hear, reject });
    // Only a command that is waited for keeps this process alive.
    this.#child.channel?.ref();
    signal.addEventListener('abort', abort);
    try {
      this.#send({ type: 'run', id, request });
      return await promise;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#child.channel?.unref();
    }
  }

  #send(message: ToSpawner): void {
    this.#child.send(message, (error) => {
      if (error !== null) this.#fail(error.message);
    });
  }

  #fail(why: string): void {
    for (const { reject } of this.#waiting.values()) {
      const what = `the process that starts commands is gone: ${why}`;
      reject(new InfrastructureError('COMMAND_FAILED', what));
    }
  }
}

let spawner: Spawner | undefined;

/** Rejects where the command could not be started or its process was ended by somebody. */
export function spawnCommand(request: CommandRequest, watch: CommandWatch): Promise<CommandResult> {
  spawner ??= new Spawner(() => (spawner = undefined));
  return spawner.run(request, watch);
}
