/** Chance of a sweep: what it draws of a schedule depends on the sweep's key and the schedule's number. */
import { Chance } from '../cluster/sim/chance.ts';
import type { Dice } from '../fields/swept.ts';
import { key32, mix32 } from '../random.ts';

export class Draws extends Chance implements Dice {
  /** Of the index-th schedule of a sweep. */
  constructor(sweepKey: number, index: number) {
    super(mix32(sweepKey, index));
    // Schedules that are written down by seed and number count from the second draw on.
    this.float();
  }

  /** True so often. */
  chance(share: number): boolean {
    return this.float() < share;
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.int(0, values.length - 1)];
    if (value === undefined) throw new RangeError('nothing to pick from');
    return value;
  }
}

export const sweepKey = (seed: string): number => key32(`sweep ${seed}`);
