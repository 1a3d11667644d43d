/** A volume whose database runs on the node that is struck. */
import { able, type Capability } from '../../capabilities.ts';
import type { PodRef } from '../../cluster/port.ts';
import type { StruckVolume } from '../../faults/fault.ts';
import type { Writers } from '../../workload/port.ts';
import { capabilitiesFor } from './needs.ts';
import type { Run } from './run-context.ts';

export interface Struck extends Run {
  readonly writers: Writers;
  readonly victim: PodRef;
  /** What of it faults and remedies may touch. */
  readonly volume: StruckVolume<Capability>;
}

/** Throws as `able`. */
export function volumeOf(
  { steps, recorder, scenario, database, custom }: Run,
  pod: PodRef,
): StruckVolume<Capability> {
  const { disk, pods } = steps.breakable(pod);
  const needs = capabilitiesFor(scenario, { ...custom, database });
  return {
    ...{ pod, recorder, scenario },
    disk: able(disk, 'disk', needs),
    pods: able(pods, 'pods', needs),
  };
}
