/** Every fault by name. */
import type { FaultKind, FaultNamed } from './kinds/index.ts';
import type { Scenario } from '../experiment/scenario.ts';
import { askedAgain } from './asked-again.ts';
import { apiPartition } from './api-partition.ts';
import { apiOutage, attacherDown, controllerRestart } from './control-plane.ts';
import type { Fault, FaultOf } from './fault.ts';
import { cpuStarvation } from './cpu-starvation.ts';
import { flappingPartition } from './flapping-partition.ts';
import { freeze } from './freeze.ts';
import { kubeletRestart } from './kubelet-restart.ts';
import { leaseWrite } from './lease-write.ts';
import { none } from './none.ts';
import { networkPartition } from './network-partition.ts';
import { nodeCrash } from './node-crash.ts';
import { nodeReboot } from './node-reboot.ts';
import { kubeletStall, runtimeStall } from './stalls.ts';
import { withSecond } from './second.ts';
import { withServerKills } from './server-kills.ts';

/** Each is given what its kind declares that it needs, and no more. */
const faults: { readonly [Name in FaultKind]: FaultOf<FaultNamed<Name>> } = {
  none,
  'node-crash': nodeCrash,
  'node-reboot': nodeReboot,
  'network-partition': networkPartition,
  'api-partition': apiPartition,
  freeze,
  'kubelet-stall': kubeletStall,
  'runtime-stall': runtimeStall,
  'kubelet-restart': kubeletRestart,
  'cpu-starvation': cpuStarvation,
  'flapping-partition': flappingPartition,
  'controller-restart': controllerRestart,
  'api-outage': apiOutage,
  'attacher-down': attacherDown,
  'lease-write': leaseWrite,
};

/** The scenario's fault, or a caller's `own` in its place; with the second one where there is one, and with what leads up to it. */
export function faultOf({ fault, also, serverKills }: Scenario, own?: Fault): Fault {
  const first = askedAgain(own ?? faults[fault]);
  const whole = also === 'none' ? first : withSecond(first, askedAgain(faults[also]));
  return serverKills === 0 ? whole : withServerKills(whole);
}

/** Whether it is asked again, until its heal, if it still holds. */
export const isAskedAgain = (fault: FaultKind): boolean => faults[fault].holds !== undefined;
