/** A process that was started: text goes both ways until it ends. */
import { type ChildProcess, spawn } from 'node:child_process';

export interface ChildRequest {
  readonly argv: readonly string[];
  /** Default: this process' own. */
  readonly cwd?: string;
  /** Default: this process' own. */
  readonly env?: Readonly<NodeJS.ProcessEnv>;
  /** Without, `write` and `end` do nothing. */
  readonly hasStdin: boolean;
}

export interface Output {
  readonly onOut: (text: string) => void;
  readonly onErr: (text: string) => void;
}

export interface Exit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface Child {
  /** Rejects where it could not be started, as `exited` does then. */
  readonly started: Promise<void>;
  /** Resolves once nothing writes to its output any more. */
  readonly exited: Promise<Exit>;
  write(text: string): void;
  end(): void;
  /** Ends its whole process group. No error where that is gone. */
  kill(signal: NodeJS.Signals): void;
  /** Lets this process end before it does. */
  forget(): void;
}

export type StartChild = (request: ChildRequest, output: Output) => Child;

const running = new Set<ChildProcess>();

/** Started by this process. `startAway` (spawner.ts) starts one by another. */
export const startHere: StartChild = ({ argv, cwd, env, hasStdin }, { onOut, onErr }) => {
  const [command = '', ...rest] = argv;
  // A group of its own: Ctrl-C in the terminal must end the run, not the heal's commands.
  const child = spawn(command, rest, {
    ...{ cwd, env, detached: true },
    stdio: [hasStdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.stdout?.setEncoding('utf8').on('data', onOut);
  child.stderr?.setEncoding('utf8').on('data', onErr);
  // It may end without reading all of it.
  child.stdin?.on('error', () => undefined);
  const started = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<Exit>();
  for (const { promise } of [started, exited]) promise.catch(() => undefined);
  child.once('spawn', started.resolve);
  child.once('error', (error) => {
    running.delete(child);
    started.reject(error);
    exited.reject(error);
  });
  child.once('close', (exitCode, signal) => {
    running.delete(child);
    exited.resolve({ exitCode, signal });
  });
  return {
    started: started.promise,
    exited: exited.promise,
    write: (text) => void child.stdin?.write(text),
    end: () => void child.stdin?.end(),
    kill: (signal) => killGroup(child, signal),
    forget: () => child.unref(),
  };
};

/** For the end of this process: nothing acts for a run that is gone. */
export function killChildren(): void {
  for (const child of running) killGroup(child, 'SIGKILL');
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
