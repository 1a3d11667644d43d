/** Runs commands, the engine's and others: each is one that a person can paste. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { isAbsolute } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { quote, which } from 'zx';
import { InfrastructureError } from '../../core/index.ts';
import type { Ended } from '../../run/index.ts';
import * as engine from './commands.ts';

/** A command as a person can paste it. */
export const pasteable = (argv: readonly string[]): string =>
  argv.map((word) => quote(word)).join(' ');

export interface Child {
  readonly process: ChildProcess;
  /** Resolves once nothing writes to its output any more; rejects where it could not be started. */
  readonly exited: Promise<{ readonly exitCode: number | null; readonly signal: string | null }>;
}

interface ChildOptions {
  readonly onOut: (text: string) => void;
  readonly onErr: (text: string) => void;
  readonly env?: NodeJS.ProcessEnv;
  /** Default: it has a stdin. */
  readonly hasStdin?: boolean;
}

const paths = new Map<string, string>();

/**
 * A started process searches PATH itself, and the runner stands still until it has found its program: npx
 * puts a dozen folders first, which made timers up to 0.4 s late where nine runs shared a machine.
 */
function pathOf(command: string, { PATH = '' }: NodeJS.ProcessEnv): string {
  const key = `${PATH}\n${command}`;
  const path = paths.get(key) ?? which.sync(command, { nothrow: true, path: PATH }) ?? command;
  paths.set(key, path);
  return path;
}

let comesFirst = false;

/**
 * A group of its own: Ctrl-C in the terminal must end the run, not the heal's commands. What a thread that comes
 * first starts comes first until it leaves that behind: the runner stands still until it has begun.
 */
export function startChild(
  [command = '', ...rest]: readonly string[],
  { onOut, onErr, env, hasStdin = true }: ChildOptions,
): Child {
  const program = pathOf(command, env ?? process.env);
  // One that is not there must fail to start.
  const stepsBack = comesFirst && isAbsolute(program);
  const [first = '', ...words] = [...(stepsBack ? ['chrt', '--other', '0'] : []), program, ...rest];
  const child = spawn(pathOf(first, process.env), words, {
    ...{ argv0: stepsBack ? first : command, env, detached: true },
    stdio: [hasStdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  child.stdout?.setEncoding('utf8').on('data', onOut);
  child.stderr?.setEncoding('utf8').on('data', onErr);
  // It may end without reading all of it.
  child.stdin?.on('error', () => undefined);
  const exited = once(child, 'close').then(([exitCode, signal]) => ({ exitCode, signal }));
  exited.catch(() => undefined);
  return { process: child, exited };
}

/** Ends the group of a process that leads one. No error where it is gone, or was never started. */
export function killGroup(
  { pid }: { readonly pid?: number | undefined },
  signal: NodeJS.Signals,
): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It is gone.
  }
}

/**
 * A command that reads no stdin, and is ended by the end of it: with this process, however that ends.
 * For one that would go on for long, or do harm, when nobody waits for it any more.
 */
export const endedByInput = (argv: readonly string[]): string[] => [
  ...['sh', '-c', 'exec 3<&0; (cat <&3; kill -KILL 0) >/dev/null 2>&1 & exec "$@" </dev/null 3<&-'],
  ...['sh', ...argv],
];

/** Takes text as it comes, and hands on each line that is whole. */
export function linesTo(onLine: (line: string) => void): (text: string) => void {
  let begun = '';
  return (text) => {
    const lines = `${begun}${text}`.split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  };
}

/** A command that talks in lines for as long as it runs. */
export interface LineStream extends AsyncDisposable {
  /** Sends one line to the command's stdin (without the newline). */
  write(line: string): void;
  /** Resolves when the command ended by disposal, rejects when it ended otherwise. */
  readonly closed: Promise<void>;
}

/** Disposal closes the command's stdin, which ends any that reads it, then kills what is left. */
export async function openStream(
  argv: readonly string[],
  onLine: (line: string) => void,
): Promise<LineStream> {
  const said: string[] = [];
  const onErr = (text: string): void => void said.splice(0, said.length - 20, text);
  const { process: child, exited } = startChild(argv, { onOut: linesTo(onLine), onErr });
  let disposed = false;
  const closed = exited.then(({ exitCode, signal }) => {
    if (disposed) return;
    const how = `${exitCode ?? signal}: ${said.join('')}`;
    const early = `\`${argv.slice(0, 5).join(' ')} …\` ended with ${how}`;
    throw new InfrastructureError('STREAM_ENDED', early, { command: pasteable(argv) });
  });
  // Whoever awaits `closed` gets the error; nothing has to.
  closed.catch(() => undefined);
  await once(child, 'spawn');
  return {
    closed,
    write: (line) => void child.stdin?.write(`${line}\n`),
    async [Symbol.asyncDispose](): Promise<void> {
      disposed = true;
      child.stdin?.end();
      const patience = setTimeout(() => killGroup(child, 'SIGKILL'), 1_000);
      await closed.catch(() => undefined);
      clearTimeout(patience);
    },
  };
}

/** Opens a command's stream; `sharedStreams` gives another such one. */
export type OpenStream = typeof openStream;

interface CommandOptions {
  readonly input?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Ends the command after so long, which is then a failure: exit code -1; default 60 000. */
  readonly timeoutMs?: number | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Each line of stderr as it comes: progress. */
  readonly onStderrLine?: ((line: string) => void) | undefined;
  /** It does not outlive this process. Without `input` only. Default: it comes to its own end. */
  readonly endsWithUs?: boolean;
}

interface CommandResult extends Ended {
  /** The timeout that ended it. Absent where it ended in time. */
  readonly lateMs?: number;
}

/**
 * What the engine takes longest for, removing the containers of three nodes, takes 10 s on a busy
 * machine. Commands that copy, build or load say what they need.
 */
const defaultTimeoutMs = 60_000;
/** For what reads and writes as much as a volume or an image holds. */
export const copyTimeoutMs = 900_000;

/** A command that is told to end has so long until it is killed, and after that to be gone. */
const graceMs = 2000;
const goneMs = 1000;

/**
 * Runs a command and resolves to how it ended, whatever that was. One that nothing can end, such as a
 * process that waits for a disk, is left behind.
 */
export async function tryRun(
  argv: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const { input, signal, timeoutMs = defaultTimeoutMs, endsWithUs = false } = options;
  signal?.throwIfAborted();
  let [stdout, stderr] = ['', ''];
  const onLine = linesTo((line) => line.trim() !== '' && options.onStderrLine?.(line.trim()));
  const child = startChild(endsWithUs ? endedByInput(argv) : argv, {
    onOut: (text) => void (stdout += text),
    onErr: (text) => {
      stderr += text;
      // Progress may be overwritten in place.
      onLine(text.replaceAll('\r', '\n'));
    },
    env: { ...process.env, ...options.env },
    hasStdin: input !== undefined || endsWithUs,
  });
  if (!endsWithUs) child.process.stdin?.end(input);
  const late = AbortSignal.timeout(timeoutMs);
  const end = signal === undefined ? late : AbortSignal.any([signal, late]);
  const over = new AbortController();
  const exited = child.exited.then(({ exitCode }) => exitCode ?? -1, notStarted(argv));
  const ended = await Promise.race([exited, endAt(child, end, over.signal)]).finally(() => {
    over.abort();
    // One that is left behind keeps nobody.
    child.process.unref();
    for (const end of [child.process.stdout, child.process.stderr]) end?.destroy();
  });
  signal?.throwIfAborted();
  if (typeof ended !== 'number') return ended;
  const said = { stdout: stdout.trimEnd(), stderr: stderr.trimEnd() };
  // What is ended may call that a success, as `docker exec` does: late is no answer.
  return late.aborted ? { exitCode: -1, ...said, lateMs: timeoutMs } : { exitCode: ended, ...said };
}

/** What a shell says of such a command. */
const notStarted =
  ([command = '']: readonly string[]) =>
  (error: NodeJS.ErrnoException): CommandResult => {
    const why = error.code === 'ENOENT' ? 'command not found' : error.message;
    return { exitCode: 127, stdout: '', stderr: `${command}: ${why}` };
  };

/** Ends the command at the signal, and resolves where it goes on all the same. */
async function endAt({ process }: Child, end: AbortSignal, over: AbortSignal): Promise<number> {
  await new Promise<void>((resolve) => {
    if (end.aborted) resolve();
    else end.addEventListener('abort', () => resolve(), { once: true, signal: over });
  });
  killGroup(process, 'SIGTERM');
  // Whatever becomes of these waits, the race is over then.
  await sleep(graceMs, undefined, { signal: over }).catch(() => undefined);
  if (!over.aborted) killGroup(process, 'SIGKILL');
  await sleep(goneMs, undefined, { signal: over }).catch(() => undefined);
  return -1;
}

/** Runs a command and resolves to its stdout. Throws InfrastructureError `COMMAND_FAILED`. */
export async function run(argv: readonly string[], options: CommandOptions = {}): Promise<string> {
  const result = await tryRun(argv, options);
  if (result.exitCode === 0) return result.stdout;
  throw commandError(argv, result);
}

/** kubeadm says why it failed, and behind it where in its source: more lines than an error shows. */
const goFrames = /^\S+\n\t\S+:\d+(?:\n|$)/gmu;

export function commandError(argv: readonly string[], result: CommandResult): InfrastructureError {
  const said = result.stderr || result.stdout;
  if (/Cannot connect to the Docker daemon|docker: (command )?not found/.test(said)) {
    return engineMissing(said);
  }
  if (result.lateMs !== undefined) {
    const what = `\`${argv.slice(0, 4).join(' ')} …\` did not end within ${result.lateMs / 1000} s`;
    return new InfrastructureError('COMMAND_TIMED_OUT', what, {
      hint: 'check that the engine answers, then finish it by hand',
      command: pasteable(argv),
    });
  }
  const lastLines = said.replace(goFrames, '').trimEnd().split('\n').slice(-8).join('\n');
  return new InfrastructureError(
    'COMMAND_FAILED',
    `\`${argv.slice(0, 4).join(' ')} …\` ended with ${result.exitCode}: ${lastLines}`,
    { command: pasteable(argv) },
  );
}

export const engineMissing = (said: string): InfrastructureError =>
  new InfrastructureError('ENGINE_MISSING', `no Docker engine answers: ${said.split('\n')[0]}`, {
    hint: 'install and start Docker, or predict with --cluster sim',
    command: engine.byHand.start,
  });

/** Describes those that exist, as the engine does; the others are left out. */
export async function inspect(
  kind: engine.EngineObject,
  names: readonly string[],
): Promise<unknown[]> {
  if (names.length === 0) return [];
  const argv = engine.inspect(kind, names);
  const result = await tryRun(argv);
  // Exit 1 with a list on stdout: some of the names are not there.
  if (result.exitCode !== 0 && !result.stdout.startsWith('[')) throw commandError(argv, result);
  return JSON.parse(result.stdout) as unknown[];
}

/** Number of the container's first process, as the host and the lab count; `0` while it is off. */
export const firstProcessOf = (container: string): Promise<string> =>
  run(engine.inspect('container', [container], '{{.State.Pid}}'));

/** Ids (a volume's name) of the things with these labels (`key` or `key=value`). */
export const list = async (...which: Parameters<typeof engine.list>): Promise<string[]> =>
  linesOf(await run(engine.list(...which)));

export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/**
 * Puts the runner's thread before all else on the machine, where the user may (root, or CAP_SYS_NICE): a run
 * whose timers were late proves nothing, and beside twenty databases the thread waited for a second and more,
 * for a core or for a command that it had started to get one. It takes a twentieth of a core. Threads that it
 * starts later come first as well, commands don't. Resolves to whether it was done. Idempotent.
 */
export async function putTimersFirst(): Promise<boolean> {
  if (comesFirst) return true;
  // From now on, so that nothing that is started meanwhile comes first for good.
  comesFirst = true;
  const argv = ['chrt', '--rr', '--pid', '1', String(process.pid)];
  const done = await tryRun(argv).catch(() => undefined);
  return (comesFirst = done?.exitCode === 0);
}
