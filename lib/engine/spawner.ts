/**
 * Starts commands, streams and writers in a small process of its own, as promises. To start one, node
 * copies the page tables of its process, and does nothing else meanwhile: with the 500 MB of a batch
 * that took 0.2 to 0.6 s on a busy machine, each time, and the runner's timers were as late.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { InfrastructureError } from '../errors.ts';
import { moduleBeside } from '../module-beside.ts';
import {
  type CommandRequest,
  type CommandResult,
  type CommandWatch,
  endsWithinMs,
} from './command.ts';
import type { OpenStream } from './line-stream.ts';
import type { Exit, FromSpawner, News, Order, Start, ToSpawner } from './spawner-messages.ts';

const unheard = { exitCode: -1, stdout: '', stderr: '' };

/** Rejects where the command could not be started or its process was ended by somebody. */
export async function spawnCommand(
  request: CommandRequest,
  { signal, onStderrLine }: CommandWatch,
): Promise<CommandResult> {
  const ended = Promise.withResolvers<CommandResult>();
  using task = beginTask(
    { type: 'run', request },
    {
      hear(news) {
        if (news.type === 'line') onStderrLine(news.line);
        else if (news.type === 'end') ended.resolve(news.result);
        else if (news.type === 'failed') ended.reject(new Error(news.reason));
      },
      fail: ended.reject,
    },
  );
  const { timeoutMs } = request;
  // The small process ends the command; these are for one that stands still itself.
  const late = (): void =>
    ended.resolve({ ...unheard, ...(timeoutMs === undefined ? {} : { lateMs: timeoutMs }) });
  const timers = timeoutMs === undefined ? [] : [setTimeout(late, timeoutMs + 2 * endsWithinMs)];
  const abort = (): void => {
    task.order({ type: 'abort' });
    timers.push(setTimeout(late, 2 * endsWithinMs));
  };
  signal.addEventListener('abort', abort);
  try {
    return await ended.promise;
  } finally {
    signal.removeEventListener('abort', abort);
    for (const timer of timers) clearTimeout(timer);
  }
}

/** Opens it as `openStream` (line-stream.ts) does. For streams of observers: they begin anew under a fault. */
export const spawnStream: OpenStream = async (argv, onLine) => {
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const fail = (error: Error): void => {
    opened.reject(error);
    closed.reject(error);
  };
  const task = beginTask(
    { type: 'open', argv },
    {
      hear(news) {
        if (news.type === 'line') onLine(news.line);
        else if (news.type === 'opened') opened.resolve();
        else if (news.type === 'closed') closed.resolve();
        else if (news.type === 'failed') {
          fail(new InfrastructureError('STREAM_ENDED', news.reason, news.detail));
        }
      },
      fail,
    },
  );
  const forget = (): void => task[Symbol.dispose]();
  // Whoever awaits `closed` sees the error; nobody has to.
  closed.promise.then(forget, forget);
  await opened.promise;
  return {
    closed: closed.promise,
    write: (line) => task.order({ type: 'write', line }),
    async [Symbol.asyncDispose]() {
      task.order({ type: 'close' });
      await closed.promise.catch(() => undefined);
    },
  };
};

export interface Forked {
  /** Rejects where the small process is gone. */
  readonly exited: Promise<Exit>;
  tell(message: unknown): void;
  /** SIGKILL. */
  kill(): void;
}

/** A TypeScript file as a process that talks to this one; when this one is gone it hears of it. */
export function spawnFork(path: string, onMessage: (message: unknown) => void): Forked {
  const exited = Promise.withResolvers<Exit>();
  const task = beginTask(
    { type: 'fork', path },
    {
      hear(news) {
        if (news.type === 'told') onMessage(news.message);
        else if (news.type === 'exited') exited.resolve(news.exit);
        else if (news.type === 'failed') exited.reject(new Error(news.reason));
      },
      fail: exited.reject,
    },
  );
  const forget = (): void => task[Symbol.dispose]();
  // Whoever awaits `exited` sees the error.
  exited.promise.then(forget, forget);
  return {
    exited: exited.promise,
    tell: (message) => task.order({ type: 'tell', message }),
    kill: () => task.order({ type: 'kill' }),
  };
}

interface TaskListener {
  readonly hear: (news: News) => void;
  /** The small process is gone, and with it the task. */
  readonly fail: (error: Error) => void;
}

/** Disposal ends the listening, not the task. A task that is listened to keeps this process alive. */
interface Task extends Disposable {
  order(order: Order): void;
}

class Spawner {
  readonly #child: ChildProcess;
  readonly #listeners = new Map<number, TaskListener>();
  #lastId = 0;

  constructor(onEnd: () => void) {
    const path = fileURLToPath(moduleBeside('spawner-process', import.meta));
    // A group of its own, as its commands have: Ctrl-C must not end what heals.
    this.#child = fork(path, {
      detached: true,
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.unref();
    this.#child.channel?.unref();
    this.#child.on('message', ({ id, ...news }: FromSpawner) =>
      this.#listeners.get(id)?.hear(news),
    );
    this.#child.once('error', (error) => this.#fail(error.message));
    this.#child.once('exit', (code, signal) => {
      onEnd();
      this.#fail(`it ended with ${signal ?? `exit code ${code}`}`);
    });
  }

  begin(start: Start, listener: TaskListener): Task {
    const id = (this.#lastId += 1);
    this.#listeners.set(id, listener);
    this.#child.channel?.ref();
    this.#send({ id, ...start });
    return {
      order: (order) => this.#send({ id, ...order }),
      [Symbol.dispose]: () => {
        this.#listeners.delete(id);
        if (this.#listeners.size === 0) this.#child.channel?.unref();
      },
    };
  }

  #send(message: ToSpawner): void {
    this.#child.send(message, (error) => {
      if (error !== null) this.#fail(error.message);
    });
  }

  #fail(why: string): void {
    for (const { fail } of this.#listeners.values()) {
      const what = `the process that starts commands is gone: ${why}`;
      fail(new InfrastructureError('COMMAND_FAILED', what));
    }
  }
}

let started: Spawner | undefined;

/** A process that died is replaced at the next task. */
function beginTask(start: Start, listener: TaskListener): Task {
  started ??= new Spawner(() => (started = undefined));
  return started.begin(start, listener);
}
