/** Agents of a node that stand still, while what they started runs on. */
import type { Stall } from '../cluster/machine-port.ts';
import type { FaultOf } from './fault.ts';
import { kubeletStall as kubelet } from './kinds/kubelet-stall.ts';
import { runtimeStall as runtime } from './kinds/runtime-stall.ts';
import { lastingFault } from './lasting.ts';
import { agentsRun, agentsStandStill, isIn } from './probes.ts';

const stall = (kind: typeof kubelet | typeof runtime, agents: Stall): FaultOf<typeof kind> =>
  lastingFault(kind, {
    breaks: ({ machine }) => machine.stall(agents),
    mends: ({ machine }) => machine.resume(),
    whole: ({ machine }) => [agentsRun(machine)],
    broken: ({ machine }) => [
      agentsStandStill(machine, agents),
      isIn(machine, 'running', 'the victim itself still runs'),
    ],
  });

/** No heartbeats and no actions of the kubelet. */
export const kubeletStall = stall(kubelet, 'kubelet');
/** Kubelet and containerd, as on a node that is out of disk I/O. */
export const runtimeStall = stall(runtime, 'runtime');
