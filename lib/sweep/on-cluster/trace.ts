/** A thread that imports a module, and tells which files that took. `workerData`: the module's URL. */
import { registerHooks } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

const urls: string[] = [];
registerHooks({
  load(url, context, nextLoad) {
    urls.push(url);
    return nextLoad(url, context);
  },
});
await import(String(workerData));
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(urls);
