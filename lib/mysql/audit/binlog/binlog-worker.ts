/** Reads the binary log beside everything else: a thread of its own. Its data: the data directory. */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { readBinlog } from './read-binlog.ts';

// Of this thread alone, on Linux: rows come first. While the server sums its indexes, a processor is free.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(readBinlog(String(workerData)));
