/** Every fault by name. */
import type { Scenario } from '../experiment/scenario.ts';
import type { Fault } from './fault.ts';
import { networkPartition } from './network-partition.ts';
import { nodeCrash } from './node-crash.ts';

export const faults: Readonly<Record<Scenario['fault'], Fault>> = {
  'node-crash': nodeCrash,
  'network-partition': networkPartition,
};
