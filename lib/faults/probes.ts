/** Probes that several faults ask: what state the victim is in, who reaches it, whom it reaches. */
import { stalls, type Machine, type Stall } from '../cluster/machine-port.ts';
import type { Proof } from '../storage/port.ts';
import type { Probe } from './fault.ts';

/** Makes a probe of what a verb has proven already: of the disk, or of a cut. */
export const proven = (claim: string, { verified, evidence }: Proof): Probe => ({
  claim,
  ask: () => Promise.resolve({ holds: verified, evidence }),
});

/** Asks whether the victim is in that state: `running`, `frozen` or `stopped`. */
export const isIn = (
  machine: Machine,
  expected: Awaited<ReturnType<Machine['state']>>,
  claim: string,
): Probe => ({
  claim,
  ask: async () => {
    const state = await machine.state();
    return { holds: state === expected, evidence: `${machine.node} is ${state}` };
  },
});

const verb = (expected: boolean): string => (expected ? 'reaches' : 'does not reach');

/** On a busy machine an answer may come late: what can be reached is, by one try of so many. */
const tries = 3;

const asked = (
  claim: string,
  path: string,
  expected: boolean,
  ask: () => Promise<boolean>,
): Probe => ({
  claim,
  ask: async () => {
    const most = expected ? tries : 1;
    let count = 1;
    let reached = await ask();
    for (; !reached && count < most; count += 1) reached = await ask();
    const how = count === 1 ? '' : `, asked ${count} times`;
    const evidence = `${path}: ${reached ? 'reached' : 'not reached'}${how}`;
    return { holds: reached === expected, evidence };
  },
});

/** Out of the node. */
export const apiReached = (machine: Machine, expected: boolean): Probe =>
  asked(
    `the victim ${verb(expected)} the API server`,
    `${machine.node} → API server`,
    expected,
    () => machine.reachesApi(),
  );

/** Into the node, from the network of the outside clients. */
export const reachedByClients = (machine: Machine, expected: boolean): Probe =>
  asked(
    `the outside network ${verb(expected)} the victim`,
    `outside → ${machine.node}`,
    expected,
    () => machine.reachedFromOutside(),
  );

/** Both directions. */
export const reachability = (machine: Machine, expected: boolean): Probe[] => [
  apiReached(machine, expected),
  reachedByClients(machine, expected),
];

const told = (machine: Machine, agents: readonly string[]): string =>
  `on ${machine.node} stands still: ${agents.join(', ') || 'nothing'}`;

/** Asks whether no agent of the node stands still. */
export const agentsRun = (machine: Machine): Probe => ({
  claim: 'kubelet and containerd run',
  ask: async () => {
    const agents = await machine.stalled();
    return { holds: agents.length === 0, evidence: told(machine, agents) };
  },
});

/** Asks whether exactly the agents that such a stall stops stand still. */
export const agentsStandStill = (machine: Machine, stall: Stall): Probe => ({
  claim: stall === 'kubelet' ? 'the kubelet stands still' : 'kubelet and containerd stand still',
  ask: async () => {
    const agents = await machine.stalled();
    const holds = stalls[stall].every((agent) => agents.includes(agent));
    return {
      holds: holds && agents.length === stalls[stall].length,
      evidence: told(machine, agents),
    };
  },
});
