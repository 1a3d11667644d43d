/**
 * Starts commands and streams in a small process of its own. To start one, node copies the page
 * tables of its process, and does nothing else meanwhile: with the 500 MB of a batch that took 0.2
 * to 0.6 s on a busy machine, each time, and the runner's timers were as late.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { InfrastructureError, type ErrorDetail } from '../../errors.ts';
import type { CommandRequest, CommandResult, CommandWatch } from './command.ts';
import type { LabStream } from './lab-port.ts';
import type { OpenStream } from './lab-stream.ts';

export type ToSpawner =
  | { readonly type: 'run'; readonly id: number; readonly request: CommandRequest }
  | { readonly type: 'abort'; readonly id: number }
  | { readonly type: 'open'; readonly id: number; readonly argv: readonly string[] }
  | { readonly type: 'write'; readonly id: number; readonly line: string }
  | { readonly type: 'close'; readonly id: number };

export type FromSpawner =
  | { readonly type: 'line'; readonly id: number; readonly line: string }
  | { readonly type: 'end'; readonly id: number; readonly result: CommandResult }
  | { readonly type: 'opened'; readonly id: number }
  | { readonly type: 'closed'; readonly id: number }
  | {
      readonly type: 'failed';
      readonly id: number;
      readonly reason: string;
      readonly detail?: ErrorDetail;
    };

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
    const ended = Promise.withResolvers<CommandResult>();
    const id = this.#wait({
      hear(message) {
        if (message.type === 'line') onStderrLine(message.line);
        else if (message.type === 'end') ended.resolve(message.result);
        else if (message.type === 'failed') ended.reject(new Error(message.reason));
      },
      reject: ended.reject,
    });
    const abort = (): void => this.#send({ type: 'abort', id });
    signal.addEventListener('abort', abort);
    try {
      this.#send({ type: 'run', id, request });
      return await ended.promise;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#forget(id);
    }
  }

  async open(argv: readonly string[], onLine: (line: string) => void): Promise<LabStream> {
    const opened = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const reject = (error: Error): void => {
      opened.reject(error);
      closed.reject(error);
    };
    const id = this.#wait({
      hear(message) {
        if (message.type === 'line') onLine(message.line);
        else if (message.type === 'opened') opened.resolve();
        else if (message.type === 'closed') closed.resolve();
        else if (message.type === 'failed') {
          reject(new InfrastructureError('STREAM_ENDED', message.reason, message.detail));
        }
      },
      reject,
    });
    const forget = (): void => this.#forget(id);
    // Whoever awaits `closed` sees the error; nobody has to.
    closed.promise.then(forget, forget);
    this.#send({ type: 'open', id, argv });
    await opened.promise;
    return {
      closed: closed.promise,
      write: (line) => this.#send({ type: 'write', id, line }),
      [Symbol.asyncDispose]: async () => {
        this.#send({ type: 'close', id });
        await closed.promise.catch(() => undefined);
      },
    };
  }

  #wait(waiting: Waiting): number {
    const id = (this.#lastId += 1);
    this.#waiting.set(id, waiting);
    // Only what is waited for keeps this process alive.
    this.#child.channel?.ref();
    return id;
  }

  #forget(id: number): void {
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#child.channel?.unref();
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

let started: Spawner | undefined;

const spawner = (): Spawner => (started ??= new Spawner(() => (started = undefined)));

/** Rejects where the command could not be started or its process was ended by somebody. */
export const spawnCommand = (
  request: CommandRequest,
  watch: CommandWatch,
): Promise<CommandResult> => spawner().run(request, watch);

/** As `openStream` (lab-stream.ts). For streams of observers: they begin anew under a fault. */
export const spawnStream: OpenStream = (argv, onLine) => spawner().open(argv, onLine);
