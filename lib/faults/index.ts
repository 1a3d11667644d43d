/** Every fault by name. */
import type { FaultKind } from '../fault-kinds.ts';
import { apiPartition } from './api-partition.ts';
import type { Fault } from './fault.ts';
import { freeze } from './freeze.ts';
import { kubeletStall } from './kubelet-stall.ts';
import { networkPartition } from './network-partition.ts';
import { nodeCrash } from './node-crash.ts';
import { nodeReboot } from './node-reboot.ts';
import { runtimeStall } from './runtime-stall.ts';

export const faults: Readonly<Record<FaultKind, Fault>> = {
  'node-crash': nodeCrash,
  'node-reboot': nodeReboot,
  'network-partition': networkPartition,
  'api-partition': apiPartition,
  freeze,
  'kubelet-stall': kubeletStall,
  'runtime-stall': runtimeStall,
};
