/** Kubelet stall: no heartbeats and no actions of the kubelet; what it started runs on. */
import { lastingFault } from './lasting.ts';
import { agentsRun, agentsStandStill, isIn } from './probes.ts';

export const kubeletStall = lastingFault({
  name: 'kubelet-stall',
  breaks: ({ machine }) => machine.stall('kubelet'),
  mends: ({ machine }) => machine.resume(),
  whole: ({ machine }) => [agentsRun(machine)],
  broken: ({ machine }) => [
    agentsStandStill(machine, 'kubelet'),
    isIn(machine, 'running', 'the victim itself still runs'),
  ],
});
