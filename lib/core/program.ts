/** This program: where its source is, how its commands are typed, and its modules that run in threads. */
import { existsSync } from 'node:fs';
import { isAbsolute, join, basename, relative, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parentPort, Worker } from 'node:worker_threads';
import { quote } from 'zx';
import { InfrastructureError } from './errors.ts';

/** The version of this project, for the npm package too: scripts/pack.ts. */
export const projectVersion = '0.1.0';

/** Without a slash at its end. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

export const isCheckout: boolean = import.meta.url.endsWith('.ts');

/** A path that this project's docs name; where the working folder has no such file, the project's own. */
export function orShipped(path: string): string {
  if (isAbsolute(path) || existsSync(path)) return path;
  const shipped = join(projectRoot, path);
  return existsSync(shipped) ? shipped : path;
}

/** Throws InfrastructureError `NEEDS_CHECKOUT` in the npm package. `doing`: what can't be done there. */
export function needCheckout(doing: string): void {
  if (isCheckout) return;
  throw new InfrastructureError('NEEDS_CHECKOUT', `the npm package cannot do this: ${doing}`, {
    hint: 'this needs the source: clone the repository and run it there; the package only predicts',
    command: 'npx forcedetach run node-crash --cluster sim',
  });
}

/** Commands of the tree that are files of experiments/ as well. */
const alsoExperiments: readonly string[] = ['matrix', 'sweep', 'replay'];

/** Commands that are started by their name alone. */
const tools: readonly string[] = [
  ...[
    'probe',
    'inspect',
    'risk',
    'report',
    'export',
    'merge-batches',
    'crash-states',
    'expectations',
  ],
  ...['doctor', 'clean', 'completion'],
];

/** Whether a file of experiments/ is one experiment, which `forcedetach run` starts by its name. */
export const isPreset = (file: string): boolean => ![...alsoExperiments, ...tools].includes(file);

const packageCommands = ['forcedetach', 'kubectl-detach_probe'];

/** The package's command that started this process, if one did. */
export function startedAs(argv: readonly string[] = process.argv): string | undefined {
  const name = basename(argv[1] ?? '', '.mjs');
  return packageCommands.includes(name) ? name : undefined;
}

/** A command of the tree, or an experiment by its name, with words behind it: paste-ready. */
export const typed = (
  name: string,
  words: readonly string[] = [],
  argv: readonly string[] = process.argv,
): string => paste([...startOf(name, startedAs(argv)), ...words]);

function startOf(name: string, starter: string | undefined): readonly string[] {
  if (name === 'probe' && starter === 'kubectl-detach_probe') return ['kubectl', 'detach-probe'];
  if (tools.includes(name)) return ['npx', 'forcedetach', name];
  if (starter === undefined) return ['npx', 'zx', `experiments/${name}.mjs`];
  return ['npx', 'forcedetach', ...(isPreset(name) ? ['run'] : []), name];
}

/**
 * A script's own arguments. Not zx's `argv`: it turns `0x1F` into 31 and drops digits of long seeds. Under
 * `npx zx experiments/zombie.mjs …` process.argv is [node, zx, experiments/zombie.mjs, …].
 */
export function scriptArguments(argv: readonly string[] = process.argv): string[] {
  const script = argv.findIndex((word, index) => index > 0 && word.endsWith('.mjs'));
  return argv.slice(startedAs(argv) === undefined && script !== -1 ? script + 1 : 2);
}

/** The command that started this process, with a flag, and its value, in place of those that were typed. */
export function typedAgain(
  words: readonly string[],
  argv: readonly string[] = process.argv,
): string {
  const [flag, ...value] = words;
  const kept = scriptArguments(argv).filter((word, index, all) => {
    const at = all.lastIndexOf(flag ?? '', index);
    return (at === -1 || index > at + value.length) && !word.startsWith(`${flag}=`);
  });
  return paste([...startWords(argv), ...kept, ...words]);
}

function startWords(argv: readonly string[]): readonly string[] {
  const starter = startedAs(argv);
  if (starter === 'kubectl-detach_probe') return ['kubectl', 'detach-probe'];
  if (starter !== undefined) return ['npx', starter];
  const script = argv.find((word, index) => index > 0 && word.endsWith('.mjs')) ?? '';
  return ['npx', 'zx', relative(process.cwd(), script)];
}

/** A command line that can be pasted, from its words. */
export const paste = (words: readonly string[]): string =>
  words.map((word) => quote(word)).join(' ');

/** The module of that name, without its ending, beside the one that asks with its `import.meta`. */
export const moduleBeside = (name: string, { url }: { readonly url: string }): URL =>
  new URL(`${name}${extname(url)}`, url);

export class WorkerPool<Task, Result> implements AsyncDisposable {
  readonly #all: readonly Worker[];
  readonly #idle: Worker[];
  readonly #waiting: ((worker: Worker) => void)[] = [];

  /** `file`: a module that calls `answerTasks`. `youngMb`: room for what soon is garbage. */
  constructor(file: URL, threads: number, { youngMb }: { readonly youngMb?: number } = {}) {
    const resourceLimits = youngMb === undefined ? {} : { maxYoungGenerationSizeMb: youngMb };
    this.#all = Array.from({ length: threads }, () => new Worker(file, { resourceLimits }));
    this.#idle = [...this.#all];
  }

  get threads(): number {
    return this.#all.length;
  }

  /** Waits for an idle thread. Rejects with what the task threw; the pool is of no more use then. */
  async run(task: Task): Promise<Result> {
    const worker = this.#idle.pop() ?? (await new Promise<Worker>((r) => this.#waiting.push(r)));
    try {
      return await new Promise<Result>((resolve, reject) => {
        worker.removeAllListeners();
        worker.once('message', resolve);
        worker.once('error', reject);
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        worker.postMessage(task);
      });
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle.push(worker);
      else next(worker);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map((worker) => worker.terminate()));
  }
}

/**
 * In a thread of the pool: answers every task that it is sent. One that throws ends the thread. What
 * a task is, the pool's own type says.
 */
export function answerTasks(run: (task: never) => unknown): void {
  parentPort?.on('message', async (task: unknown) => {
    const result = await run(task as never);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage(result);
  });
}

/** A command's answer, kept as evidence. `output` is at most 4 KiB, its end cut with a mark. */
export interface CommandEvidence {
  readonly command: string;
  readonly exitCode: number;
  readonly output: string;
  readonly durationMs: number;
}
