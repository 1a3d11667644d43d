/** A stretch of a sweep: some schedules in a row, played one after the other. */
import { sweepKey, scheduleAt, type Schedule, type ScheduleSource } from './generate.ts';
import { InfrastructureError } from '../core/index.ts';
import { play, type ScheduleOutcome } from './play.ts';
import { addOutcome, emptyTally, type Tally } from './tally.ts';

export interface ScheduleRange extends Omit<ScheduleSource, 'key'> {
  readonly from: number;
  readonly count: number;
}

export function playRange({ seed, corpus, disk, from, count }: ScheduleRange): Tally {
  const tally = emptyTally();
  const sweep = { seed, corpus, disk, key: sweepKey(seed) };
  for (let index = from; index < from + count; index++) {
    const schedule = scheduleAt(sweep, index);
    addOutcome(tally, schedule, played(schedule));
  }
  return tally;
}

/** Throws InfrastructureError `SCHEDULE_FAILED`: what a sweep can't play is a fault of its own. */
function played({ index, scenario, seed }: Schedule): ScheduleOutcome {
  try {
    return play(scenario, seed);
  } catch (cause) {
    throw new InfrastructureError('SCHEDULE_FAILED', `the model cannot play schedule ${index}`, {
      hint: `this is a bug in the model; please report it with the seed ${seed}`,
      cause,
    });
  }
}
