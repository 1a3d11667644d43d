/** A thread of a sweep: plays the stretches that it is sent, and sends back what they came to. */
import { parentPort } from 'node:worker_threads';
import { playStretch, type Stretch } from './stretch.ts';

parentPort?.on('message', (stretch: Stretch) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(playStretch(stretch));
});
