/** An experiment on the model as a process of its own, for tests of how such a process ends. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

export interface SpawnedRun {
  readonly folder: string;
  /** Resolves once this was printed on stderr. */
  readonly printed: (text: string) => Promise<void>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Nobody reads that stream any more: the next write is EPIPE. */
  readonly closeReader: (stream: 'stdout' | 'stderr') => void;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  readonly stderr: () => string;
}

/** Many commits make the model slow enough to be met in its watch. */
const slow = ['--cluster', 'sim', '--rate', '400', '--remedy-at', '700s'];

interface Choice {
  /** Default: flags that make the watch long. */
  readonly flags?: readonly string[];
  /** Default: a pipe that is read. */
  readonly stdout?: 'pipe' | number;
  /** Modules that the process loads first. */
  readonly preload?: readonly string[];
}

const newFolder = (): string => join(mkdtempSync(join(tmpdir(), 'forcedetach-')), 'run');

const commandOf = (folder: string, experiment: string, { flags = slow, preload = [] }: Choice) => [
  process.execPath,
  ...preload.flatMap((module) => ['--import', module]),
  join('node_modules', 'zx', 'build', 'cli.js'),
  `experiments/${experiment}.mjs`,
  ...flags,
  '--out',
  folder,
];

export function spawnRun(experiment = 'network-partition', choice: Choice = {}): SpawnedRun {
  const folder = newFolder();
  const [command = '', ...argv] = commandOf(folder, experiment, choice);
  const child = spawn(command, argv, { stdio: ['ignore', choice.stdout ?? 'pipe', 'pipe'] });
  const said = listen(child, child.stderr);
  child.stdout?.resume();
  return {
    folder,
    ...said,
    kill: (signal) => void child.kill(signal),
    closeReader: (stream) => void child[stream]?.destroy(),
  };
}

/** The same in a terminal of its own, which can be closed. */
export function inTerminal(): Pick<SpawnedRun, 'folder' | 'printed'> & {
  readonly closeTerminal: () => void;
} {
  const folder = newFolder();
  // Its size is unknown, and then each letter has a line of its own.
  const command = `stty cols 200 rows 50; exec ${commandOf(folder, 'network-partition', {}).join(' ')}`;
  const child = spawn('script', ['--quiet', '--command', command, '/dev/null'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { printed } = listen(child, child.stdout);
  return { folder, printed, closeTerminal: () => void child.kill('SIGKILL') };
}

function listen(
  child: ChildProcess,
  output: Readable | null,
): Pick<SpawnedRun, 'ended' | 'stderr' | 'printed'> {
  let said = '';
  const waiting = new Set<() => void>();
  output?.on('data', (chunk: Buffer) => {
    said += String(chunk);
    for (const check of waiting) check();
  });
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on('exit', (code, signal) => resolve({ code, signal }));
  });
  return {
    ended,
    stderr: () => said,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (said.includes(text)) resolve();
        };
        waiting.add(check);
        check();
        void ended.then(() => reject(new Error(`it ended without saying ${text}:\n${said}`)));
      }),
  };
}
