/** Plays runs of the model on several worker threads. */
import { Worker } from 'node:worker_threads';
import type { Scenario } from '../experiment/scenario.ts';
import type { Prediction } from './predict.ts';
import type { Order } from './worker.ts';

interface Answer {
  readonly number: number;
  readonly prediction?: Prediction;
  readonly error?: unknown;
}

interface Waiting {
  readonly resolve: (prediction: Prediction) => void;
  readonly reject: (error: unknown) => void;
}

export class Pool implements AsyncDisposable {
  readonly #workers: Worker[];
  readonly #waiting = new Map<number, Waiting>();
  #orders = 0;

  constructor(threads: number) {
    this.#workers = Array.from({ length: threads }, () => {
      const worker = new Worker(new URL('worker.ts', import.meta.url));
      worker.on('message', (answer: Answer) => this.#settle(answer));
      worker.on('error', (error) => this.#fail(error));
      return worker;
    });
  }

  play(scenario: Scenario, seed: string): Promise<Prediction> {
    return new Promise((resolve, reject) => {
      const number = this.#orders++;
      this.#waiting.set(number, { resolve, reject });
      const order: Order = { number, scenario, seed };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
      this.#workers[number % this.#workers.length]?.postMessage(order);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #settle({ number, prediction, error }: Answer): void {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (prediction === undefined) waiting?.reject(error);
    else waiting?.resolve(prediction);
  }

  #fail(error: unknown): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
