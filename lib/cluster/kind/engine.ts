/** The Docker engine, through its command line: every call is a command that a person can paste. */
import { quote } from 'zx';
import { InfrastructureError } from '../../errors.ts';
import type { CommandResult } from './command.ts';
import { spawnCommand } from './spawned.ts';

export interface CommandOptions {
  /** Written to the command's stdin. */
  readonly input?: string | undefined;
  /** Ends the command when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the command after so long, which is then a failure: exit code -1; default none. */
  readonly timeoutMs?: number | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Each line of stderr as it comes: progress. */
  readonly onStderrLine?: ((line: string) => void) | undefined;
}

export type { CommandResult };

export const pasteable = (argv: readonly string[]): string =>
  argv.map((word) => quote(word)).join(' ');

const unheard = (): void => undefined;

/** Runs a command and resolves to how it ended, whatever that was. */
export async function tryRun(
  argv: readonly string[],
  { input, signal, timeoutMs, env, onStderrLine = unheard }: CommandOptions = {},
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

export const docker = (argv: readonly string[], options?: CommandOptions): Promise<string> =>
  run(['docker', ...argv], options);

export const tryDocker = (
  argv: readonly string[],
  options?: CommandOptions,
): Promise<CommandResult> => tryRun(['docker', ...argv], options);

export function commandError(argv: readonly string[], result: CommandResult): InfrastructureError {
  const said = result.stderr || result.stdout;
  if (/Cannot connect to the Docker daemon|docker: (command )?not found/.test(said)) {
    return engineMissing(said);
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
    hint: 'install and start Docker, or run on the model with --cluster sim',
    command: 'systemctl start docker || dockerd &',
  });

/** What `docker … inspect` says of those things that exist; the others are left out. */
export async function inspect(
  kind: 'container' | 'network' | 'volume' | 'image',
  names: readonly string[],
): Promise<unknown[]> {
  if (names.length === 0) return [];
  const argv = [kind, 'inspect', ...names];
  const result = await tryDocker(argv);
  // Exit 1 with a list on stdout: some of the names are not there.
  if (result.exitCode !== 0 && !result.stdout.startsWith('[')) {
    throw commandError(['docker', ...argv], result);
  }
  return JSON.parse(result.stdout) as unknown[];
}

/** Number of the container's first process, as the host and the lab count; `0` while it is off. */
export const firstProcessOf = (container: string): Promise<string> =>
  docker(['inspect', '--format', '{{.State.Pid}}', container]);

/** Names (or ids) of the things with these labels (`key` or `key=value`). */
export async function list(
  kind: 'container' | 'network' | 'volume',
  labels: readonly string[],
): Promise<string[]> {
  const argv = [kind, 'ls', '--quiet', ...(kind === 'container' ? ['--all', '--no-trunc'] : [])];
  const filters = labels.flatMap((one) => ['--filter', `label=${one}`]);
  const said = await docker([...argv, ...filters]);
  return said.split('\n').filter((line) => line !== '');
}
