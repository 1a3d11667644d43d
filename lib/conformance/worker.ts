/** A worker thread: plays the runs of the model that it is told to, one after the other. */
import { parentPort } from 'node:worker_threads';
import type { Scenario } from '../experiment/scenario.ts';
import { predict } from './predict.ts';

export interface Order {
  readonly number: number;
  readonly scenario: Scenario;
  readonly seed: string;
}

parentPort?.on('message', async ({ number, scenario, seed }: Order) => {
  try {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
    parentPort?.postMessage({ number, prediction: await predict(scenario, seed) });
  } catch (error) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
    parentPort?.postMessage({ number, error });
  }
});
