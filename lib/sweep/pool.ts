/** Threads that play stretches of a sweep side by side. */
import { Worker } from 'node:worker_threads';
import type { Stretch } from './stretch.ts';
import type { Tally } from './tally.ts';

export class Pool implements AsyncDisposable {
  readonly #idle: Worker[];
  readonly #all: readonly Worker[];
  readonly #waiting: ((worker: Worker) => void)[] = [];

  constructor(threads: number) {
    const file = new URL('worker.ts', import.meta.url);
    this.#all = Array.from({ length: threads }, () => new Worker(file));
    this.#idle = [...this.#all];
  }

  get threads(): number {
    return this.#all.length;
  }

  /** Waits for an idle thread. Rejects with what the schedule threw. */
  async play(stretch: Stretch): Promise<Tally> {
    const worker = this.#idle.pop() ?? (await new Promise<Worker>((r) => this.#waiting.push(r)));
    try {
      return await new Promise<Tally>((resolve, reject) => {
        worker.removeAllListeners();
        worker.once('message', resolve);
        worker.once('error', reject);
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        worker.postMessage(stretch);
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
