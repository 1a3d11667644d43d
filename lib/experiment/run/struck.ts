/** A volume whose database runs on the node that is struck. */
import type { PodRef } from '../../cluster/port.ts';
import type { StruckVolume } from '../../faults/fault.ts';
import type { Writers } from '../../workload/port.ts';
import type { Run } from './run-context.ts';

export interface Struck extends Run {
  readonly writers: Writers;
  readonly victim: PodRef;
}

/** What of it faults and remedies may touch. */
export const volumeOf = ({ steps, victim, recorder, scenario }: Struck): StruckVolume => ({
  ...steps.breakable(victim),
  ...{ pod: victim, recorder, scenario },
});
