/** Commands, streams and forked processes of the small process (spawner.ts), as promises. */
import { InfrastructureError } from '../errors.ts';
import {
  endsWithinMs,
  type CommandRequest,
  type CommandResult,
  type CommandWatch,
} from './command.ts';
import type { OpenStream } from './line-stream.ts';
import { beginTask } from './spawner.ts';
import type { Exit } from './spawner-messages.ts';

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

/** As `openStream` (line-stream.ts). For streams of observers: they begin anew under a fault. */
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
