/** Runs commands, the engine's and others: each is one that a person can paste. */
import { setTimeout as sleep } from 'node:timers/promises';
import { InfrastructureError } from '../../core/index.ts';
import type { Ended } from '../../run/index.ts';
import type { Child } from './child.ts';
import * as engine from './commands.ts';
import { linesTo, openStream, type OpenStream } from './line-stream.ts';
import { pasteable } from './pasteable.ts';
import { startAway } from './spawner.ts';

export interface CommandOptions {
  readonly input?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Ends the command after so long, which is then a failure: exit code -1; default 60 000. */
  readonly timeoutMs?: number | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Each line of stderr as it comes: progress. */
  readonly onStderrLine?: ((line: string) => void) | undefined;
}

export interface CommandResult extends Ended {
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
  { input, signal, timeoutMs = defaultTimeoutMs, env, onStderrLine }: CommandOptions = {},
): Promise<CommandResult> {
  signal?.throwIfAborted();
  let [stdout, stderr] = ['', ''];
  const onLine = linesTo((line) => void (line.trim() !== '' && onStderrLine?.(line.trim())));
  const child = startAway(
    { argv, cwd: process.cwd(), env: { ...process.env, ...env }, hasStdin: input !== undefined },
    {
      onOut: (text) => void (stdout += text),
      onErr: (text) => {
        stderr += text;
        // Progress may be overwritten in place.
        onLine(text.replaceAll('\r', '\n'));
      },
    },
  );
  if (input !== undefined) child.write(input);
  child.end();
  const late = AbortSignal.timeout(timeoutMs);
  const end = signal === undefined ? late : AbortSignal.any([signal, late]);
  const over = new AbortController();
  const exited = child.exited.then(({ exitCode }) => exitCode ?? -1, notStarted(argv));
  const ended = await Promise.race([exited, endAt(child, end, over.signal)]).finally(() => {
    over.abort();
    child.forget();
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
    if (error instanceof InfrastructureError) throw error;
    const why = error.code === 'ENOENT' ? 'command not found' : error.message;
    return { exitCode: 127, stdout: '', stderr: `${command}: ${why}` };
  };

/** Ends the command at the signal, and resolves where it goes on all the same. */
async function endAt(child: Child, end: AbortSignal, over: AbortSignal): Promise<number> {
  await new Promise<void>((resolve) => {
    if (end.aborted) resolve();
    else end.addEventListener('abort', () => resolve(), { once: true, signal: over });
  });
  child.kill('SIGTERM');
  // Whatever becomes of these waits, the race is over then.
  await sleep(graceMs, undefined, { signal: over }).catch(() => undefined);
  if (!over.aborted) child.kill('SIGKILL');
  await sleep(goneMs, undefined, { signal: over }).catch(() => undefined);
  return -1;
}

/** A stream of an observer: it begins anew under a fault. */
export const spawnStream: OpenStream = (argv, onLine) => openStream(argv, onLine, startAway);

/** Runs a command and resolves to its stdout. Throws InfrastructureError `COMMAND_FAILED`. */
export async function run(argv: readonly string[], options: CommandOptions = {}): Promise<string> {
  const result = await tryRun(argv, options);
  if (result.exitCode === 0) return result.stdout;
  throw commandError(argv, result);
}

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
  const lastLines = said.split('\n').slice(-8).join('\n');
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
