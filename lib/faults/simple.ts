/** Faults that take one thing away at once, and give it back at the heal. */
import type { Machine, Stall } from '../cluster/port.ts';
import type { Fault, Probe } from './fault.ts';
import { lastingFault, type LastingContext } from './lasting.ts';
import {
  agentsRun,
  agentsStandStill,
  apiReached,
  isIn,
  reachability,
  reachedByClients,
} from './probes.ts';

const stillRuns = (machine: Machine): Probe =>
  isIn(machine, 'running', 'the victim itself still runs');

/** The victim loses the control plane and nothing else: taken for dead, it serves every client. */
export const apiPartition = lastingFault({
  name: 'api-partition',
  breaks: ({ machine }) => machine.isolate(),
  mends: ({ machine }) => machine.rejoin(),
  whole: ({ machine }) => reachability(machine, true),
  broken: ({ machine }) => [
    apiReached(machine, false),
    reachedByClients(machine, true),
    stillRuns(machine),
  ],
});

/**
 * Every process of the victim stands still, its open files and its cache stay. Thawed after the
 * hand-over it is the zombie, which goes on as if no time had passed.
 */
export const freeze = lastingFault({
  name: 'freeze',
  breaks: ({ machine }) => machine.freeze(),
  mends: ({ machine }) => machine.thaw(),
  whole: ({ machine }) => [isIn(machine, 'running', 'the victim runs')],
  // Its kernel still answers a connect, so that nothing asks from outside.
  broken: ({ machine }) => [
    isIn(machine, 'frozen', 'the victim stands still'),
    apiReached(machine, false),
  ],
});

/** Agents of the node stand still, while what they started runs on. */
const stall = (agents: Stall): Fault =>
  lastingFault({
    name: `${agents}-stall`,
    breaks: ({ machine }) => machine.stall(agents),
    mends: ({ machine }) => machine.resume(),
    whole: ({ machine }) => [agentsRun(machine)],
    broken: ({ machine }) => [agentsStandStill(machine, agents), stillRuns(machine)],
  });

/** No heartbeats and no actions of the kubelet. */
export const kubeletStall = stall('kubelet');
/** Kubelet and containerd, as on a node that is out of disk I/O. */
export const runtimeStall = stall('runtime');

/** In at least so many of the scheduler's periods somebody must have been stopped. */
const leastStopped = 0.5;

const stopped = (machine: Machine, claim: string, holds: (share: number) => boolean): Probe => ({
  claim,
  ask: async () => {
    const share = await machine.throttled();
    const percent = Math.round(100 * share);
    return { holds: holds(share), evidence: `stopped in ${percent} % of the periods` };
  },
});

/** So little of a CPU is left that heartbeats come late or not at all, while all processes live. */
export const cpuStarvation = lastingFault({
  name: 'cpu-starvation',
  breaks: ({ machine, scenario }) => machine.throttle(scenario.cpuShare),
  mends: ({ machine }) => machine.unthrottle(),
  whole: ({ machine }) => [stopped(machine, 'the victim has CPU time', (share) => share === 0)],
  broken: ({ machine }) => [
    stopped(machine, 'the victim lacks CPU time', (share) => share >= leastStopped),
    stillRuns(machine),
  ],
});

const runs = (machine: Machine): Probe[] => [
  isIn(machine, 'running', 'the victim runs'),
  agentsRun(machine),
];
const whole = ({ machine }: LastingContext): Probe[] => [
  ...runs(machine),
  ...reachability(machine, true),
];
const nothing = (): Promise<void> => Promise.resolve();

/** No fault: its certificates say that nothing was broken while the remedy acted. */
export const none: Fault = {
  ...lastingFault({ name: 'none', breaks: nothing, mends: nothing, whole, broken: whole }),
  leastMs: 0,
  // A second fault may take the API server away meanwhile.
  holds: ({ testbed, victim }) => runs(testbed.machine(victim.node)),
};
