/** Runs commands, the engine's and others: each is one that a person can paste. */
import { InfrastructureError } from '../errors.ts';
import type { CommandResult } from './command.ts';
import { byHand } from './commands.ts';
import { pasteable } from './pasteable.ts';
import { spawnCommand } from './spawner.ts';

export interface CommandOptions {
  /** Written to the command's stdin. */
  readonly input?: string | undefined;
  /** Ends the command when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the command after so long, which is then a failure: exit code -1; default 60 000. */
  readonly timeoutMs?: number | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Each line of stderr as it comes: progress. */
  readonly onStderrLine?: ((line: string) => void) | undefined;
}

export type { CommandResult };

/**
 * What the engine takes longest for, removing the containers of three nodes, takes 10 s on a busy
 * machine. Commands that copy, build or load say what they need.
 */
const defaultTimeoutMs = 60_000;
/** For what reads and writes as much as a volume or an image holds. */
export const copyTimeoutMs = 900_000;

const unheard = (): void => undefined;

/** Runs a command and resolves to how it ended, whatever that was. */
export async function tryRun(
  argv: readonly string[],
  { input, signal, timeoutMs = defaultTimeoutMs, env, onStderrLine = unheard }: CommandOptions = {},
): Promise<CommandResult> {
  signal?.throwIfAborted();
  const result = await spawnCommand(
    { argv, cwd: process.cwd(), env: { ...process.env, ...env }, input, timeoutMs },
    { signal: signal ?? new AbortController().signal, onStderrLine },
  );
  signal?.throwIfAborted();
  return result;
}

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
    command: byHand.start,
  });
