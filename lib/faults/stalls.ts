/** Agents of a node that stand still, while what they started runs on. */
import type { Stall } from '../cluster/port.ts';
import type { Fault } from './fault.ts';
import { lastingFault } from './lasting.ts';
import { agentsRun, agentsStandStill, isIn } from './probes.ts';

const stall = (agents: Stall): Fault =>
  lastingFault({
    name: `${agents}-stall`,
    breaks: ({ machine }) => machine.stall(agents),
    mends: ({ machine }) => machine.resume(),
    whole: ({ machine }) => [agentsRun(machine)],
    broken: ({ machine }) => [
      agentsStandStill(machine, agents),
      isIn(machine, 'running', 'the victim itself still runs'),
    ],
  });

/** No heartbeats and no actions of the kubelet. */
export const kubeletStall = stall('kubelet');
/** Kubelet and containerd, as on a node that is out of disk I/O. */
export const runtimeStall = stall('runtime');
