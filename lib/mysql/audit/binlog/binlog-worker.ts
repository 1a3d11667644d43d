/** Reads the binary log beside everything else: a thread of its own. Its data: the data directory. */
import { parentPort, workerData } from 'node:worker_threads';
import { readBinlog } from './read-binlog.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(readBinlog(String(workerData)));
