/** A stretch of a sweep: some schedules in a row, played one after the other. */
import type { DiskMode } from '../disk-kinds.ts';
import { sweepKey } from './draws.ts';
import { scheduleAt, type Corpus } from './generate.ts';
import { play } from './play.ts';
import { addOutcome, emptyTally, type Tally } from './tally.ts';

export interface Stretch {
  /** The sweep's. */
  readonly seed: string;
  readonly corpus: Corpus;
  /** The disk of every schedule. Default: drawn. */
  readonly disk?: DiskMode | undefined;
  readonly from: number;
  readonly count: number;
}

export function playStretch({ seed, corpus, disk, from, count }: Stretch): Tally {
  const tally = emptyTally();
  const sweep = { seed, corpus, disk, key: sweepKey(seed) };
  for (let index = from; index < from + count; index++) {
    const schedule = scheduleAt(sweep, index);
    addOutcome(tally, schedule, play(schedule.scenario, schedule.seed));
  }
  return tally;
}
