/** Runs an experiment as a user would, and reads what it leaves. */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verdictSchema, type Verdict } from '../../lib/judge/verdict/verdict.ts';

export interface ExperimentResult {
  readonly exitCode: number | null;
  readonly verdict: Verdict | undefined;
  readonly stderr: string;
  readonly folder: string;
}

export interface RunningExperiment {
  readonly pid: number;
  /** Resolves when this text was printed; rejects when the process ended without. */
  readonly printed: (text: string | RegExp) => Promise<void>;
  readonly done: Promise<ExperimentResult>;
  readonly signal: (name: NodeJS.Signals) => void;
  /** Nobody reads its progress any more: the next line is EPIPE. */
  readonly closeReader: () => void;
}

/** Where a run is at home. */
export interface Place {
  /** Beside this process's own environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Command that starts it there, e.g. in another namespace or as another user: it becomes the run's process. */
  readonly enter?: readonly string[];
  /** The checkout; default: this one. */
  readonly cwd?: string;
  /** The run's folder, which is not there yet. Default: one in the temporary directory. */
  readonly folder?: string;
}

const newFolder = (): string => join(mkdtempSync(join(tmpdir(), 'forcedetach-')), 'run');

/** Starts `npx zx experiments/<name>.mjs …args --json --out <folder>`. */
export function startExperiment(
  name: string,
  args: readonly string[],
  { env = {}, enter = [], cwd = '.', folder = newFolder() }: Place = {},
): RunningExperiment {
  const zx = ['node_modules/.bin/zx', `experiments/${name}.mjs`];
  const [command, ...argv] = [...enter, ...zx, ...args, '--json', '--out', folder];
  const child = spawn(command, argv, {
    ...{ cwd, env: { ...process.env, ...env } },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const waiting = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
    for (const check of waiting) check();
  });
  const done = new Promise<ExperimentResult>((resolve) => {
    child.on('close', (exitCode) =>
      resolve({ exitCode, verdict: verdictIn(stdout), stderr, folder }),
    );
  });
  const printed = (text: string | RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const found = typeof text === 'string' ? stderr.includes(text) : text.test(stderr);
        if (!found) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
      void done.then(() =>
        reject(new Error(`it ended without printing ${String(text)}:\n${stderr}`)),
      );
    });
  return {
    pid: child.pid ?? 0,
    printed,
    done,
    signal: (signal) => void child.kill(signal),
    closeReader: () => void child.stderr.destroy(),
  };
}

export const runExperiment = (name: string, args: readonly string[]): Promise<ExperimentResult> =>
  startExperiment(name, args).done;

function verdictIn(stdout: string): Verdict | undefined {
  if (stdout.trim() === '') return undefined;
  return verdictSchema.parse(JSON.parse(stdout));
}
