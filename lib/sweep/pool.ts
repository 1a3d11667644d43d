/** Threads that play stretches of a sweep side by side. */
import { moduleBeside, WorkerPool } from '../core/index.ts';
import type { ScheduleRange } from './schedule-range.ts';
import type { Tally } from './tally.ts';

/** Who plays stretches: threads, or whoever has the same answers. */
export type SweepPool = Pick<WorkerPool<ScheduleRange, Tally>, 'run'>;

/** A schedule leaves much garbage and keeps nothing: with room for it each costs 5 % less (docs/internals/sweep.md). */
const youngMb = 256;

export const sweepPool = (threads: number): WorkerPool<ScheduleRange, Tally> =>
  new WorkerPool(moduleBeside('worker', import.meta), threads, { youngMb });
