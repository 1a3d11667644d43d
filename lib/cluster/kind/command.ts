/** One command, from its start to how it ended. Runs in the spawner's process (spawner.ts). */
import { $ } from 'zx';

export interface CommandRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Written to the command's stdin. */
  readonly input?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface CommandResult {
  /** -1 where it was ended by its timeout or a signal. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandWatch {
  readonly signal: AbortSignal;
  readonly onStderrLine: (line: string) => void;
}

/**
 * A shell within a shell. Bash takes a socket as its stdin, which node's pipes are, for a remote
 * login, and at the first level it reads .bashrc (`run_startup_files` in shell.c, as Debian builds
 * it): where that starts pyenv, nvm or conda each command took 0.15 s of a processor for it.
 */
const innerShell = { SHLVL: '1' } as const;

/** Resolves to how it ended, whatever that was. */
export async function runCommand(
  { argv, cwd, env, input, timeoutMs }: CommandRequest,
  { signal, onStderrLine }: CommandWatch,
): Promise<CommandResult> {
  const beganAtMs = performance.now();
  const command = $({
    quiet: true,
    nothrow: true,
    // A group of its own: Ctrl-C in the terminal must end the run, not the heal's commands.
    detached: true,
    cwd,
    env: { ...env, ...innerShell },
    signal,
    ...(input === undefined ? {} : { input }),
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  })`${argv}`;
  command.stderr.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString('utf8').split(/[\r\n]+/)) {
      if (line.trim() !== '') onStderrLine(line.trim());
    }
  });
  const output = await command;
  // What is ended may call that a success, as `docker exec` does: late is no answer.
  const isLate = timeoutMs !== undefined && performance.now() - beganAtMs >= timeoutMs;
  return {
    exitCode: isLate ? -1 : (output.exitCode ?? -1),
    stdout: output.stdout.trimEnd(),
    stderr: output.stderr.trimEnd(),
  };
}
