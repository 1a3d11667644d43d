/**
 * CPU starvation: the victim's processes share so little of a CPU that heartbeats come late or not
 * at all, while all of them live.
 */
import type { MachineWith } from '../cluster/machine-port.ts';
import type { Probe } from './fault.ts';
import { cpuStarvation as kind } from './kinds/cpu-starvation.ts';
import { lastingFault } from './lasting.ts';
import { isIn } from './probes.ts';

/** In at least so many of the scheduler's periods somebody must have been stopped. */
const leastStopped = 0.5;

const stopped = (
  machine: MachineWith<'cpu-limit'>,
  claim: string,
  holds: (share: number) => boolean,
): Probe => ({
  claim,
  ask: async () => {
    const share = await machine.throttled();
    const percent = Math.round(100 * share);
    return { holds: holds(share), evidence: `stopped in ${percent} % of the periods` };
  },
});

export const cpuStarvation = lastingFault(kind, {
  breaks: ({ machine, scenario }) => machine.throttle(scenario.cpuShare),
  mends: ({ machine }) => machine.unthrottle(),
  whole: ({ machine }) => [stopped(machine, 'the victim has CPU time', (share) => share === 0)],
  broken: ({ machine }) => [
    stopped(machine, 'the victim lacks CPU time', (share) => share >= leastStopped),
    isIn(machine, 'running', 'the victim itself still runs'),
  ],
});
