/** One command, from its start to how it ended. Runs in the spawner's process (spawner.ts). */
import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { killGroup, remember } from './children.ts';
import type { Ended } from '../cluster/node-shell.ts';

export interface CommandRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Written to the command's stdin. */
  readonly input?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface CommandResult extends Ended {
  /** The timeout that ended it. Absent where it ended in time. */
  readonly lateMs?: number;
}

export interface CommandWatch {
  readonly signal: AbortSignal;
  readonly onStderrLine: (line: string) => void;
}

/** A command that is told to end has so long until it is killed, and after that to be gone. */
const graceMs = 2000;
const goneMs = 1000;
/** From the command's timeout until `runCommand` has resolved, whatever the command does. */
export const endsWithinMs = graceMs + goneMs;

/** What a shell says. */
const notFound = { exitCode: 127, stdout: '' };

/**
 * Resolves to how it ended, whatever that was. One that nothing can end, such as a process that waits
 * for a disk, is left behind.
 */
export async function runCommand(
  { argv, cwd, env, input, timeoutMs }: CommandRequest,
  { signal, onStderrLine }: CommandWatch,
): Promise<CommandResult> {
  const [command = '', ...rest] = argv;
  // A group of its own: Ctrl-C in the terminal must end the run, not the heal's commands.
  const child = spawn(command, rest, {
    ...{ cwd, env, detached: true },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => {
    err.push(chunk);
    for (const line of chunk.toString('utf8').split(/[\r\n]+/)) {
      if (line.trim() !== '') onStderrLine(line.trim());
    }
  });
  // It may end without reading all of it.
  child.stdin?.on('error', () => undefined).end(input);
  remember(child);
  const closed = new Promise<Pick<CommandResult, 'exitCode'> | Error>((resolve) => {
    child.once('error', resolve);
    child.once('close', (code) => resolve({ exitCode: code ?? -1 }));
  });
  const late = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
  const over = new AbortController();
  const ended = await Promise.race([
    closed,
    endAt(child, AbortSignal.any([signal, ...late]), over.signal),
  ]);
  over.abort();
  const text = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString().trimEnd();
  if (ended instanceof Error) return { ...notFound, stderr: startError(command, ended) };
  // What is ended may call that a success, as `docker exec` does: late is no answer.
  const isLate = timeoutMs !== undefined && late[0]?.aborted === true;
  return {
    exitCode: isLate ? -1 : ended.exitCode,
    ...{ stdout: text(out), stderr: text(err) },
    ...(isLate ? { lateMs: timeoutMs } : {}),
  };
}

/** Ends the command's whole group at the signal, and resolves where it goes on all the same. */
async function endAt(
  child: ChildProcess,
  end: AbortSignal,
  over: AbortSignal,
): Promise<{ exitCode: number }> {
  await new Promise<void>((resolve) => {
    if (end.aborted) resolve();
    else end.addEventListener('abort', () => resolve(), { once: true, signal: over });
  });
  killGroup(child, 'SIGTERM');
  // Whatever becomes of these waits, the race is over then.
  await sleep(graceMs, undefined, { signal: over }).catch(() => undefined);
  if (!over.aborted) killGroup(child, 'SIGKILL');
  await sleep(goneMs, undefined, { signal: over }).catch(() => undefined);
  return { exitCode: -1 };
}

function startError(command: string, error: Error): string {
  const missing = 'code' in error && error.code === 'ENOENT';
  return missing ? `${command}: command not found` : `${command}: ${error.message}`;
}
