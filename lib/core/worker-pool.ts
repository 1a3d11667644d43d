/** Worker threads that take one task after the other: the pool, and what a thread's file calls. */
import { parentPort, Worker } from 'node:worker_threads';

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
