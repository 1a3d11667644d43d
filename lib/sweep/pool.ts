/** Threads that play stretches of a sweep side by side. */
import { WorkerPool } from '../worker-pool.ts';
import type { Stretch } from './stretch.ts';
import type { Tally } from './tally.ts';

export type SweepPool = WorkerPool<Stretch, Tally>;

export const sweepPool = (threads: number): SweepPool =>
  new WorkerPool(new URL('worker.ts', import.meta.url), threads);
