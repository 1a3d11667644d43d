/** Runtime stall: kubelet and containerd stand still, as on a node that is out of disk I/O. */
import { lastingFault } from './lasting.ts';
import { agentsRun, agentsStandStill, isIn } from './probes.ts';

export const runtimeStall = lastingFault({
  name: 'runtime-stall',
  breaks: ({ machine }) => machine.stall('runtime'),
  mends: ({ machine }) => machine.resume(),
  whole: ({ machine }) => [agentsRun(machine)],
  broken: ({ machine }) => [
    agentsStandStill(machine, 'runtime'),
    isIn(machine, 'running', 'the victim itself still runs'),
  ],
});
