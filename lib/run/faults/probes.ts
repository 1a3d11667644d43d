/** What certificates claim: which state the victim or the control plane is in, what reaches what. */
import type { Capability } from '../../core/index.ts';
import {
  type Component,
  type ComponentLook,
  type ControlPlane,
  stalls,
  type Machine,
  type Stall,
  type Proof,
} from '../ports/cluster.ts';
import type { Probe, LastingContext } from './fault.ts';
import { type FaultProbe, claims } from '../../scenario/index.ts';

type Context = LastingContext<Capability>;

/** Makes a probe of what a verb has proven already: of the disk, or of a cut. */
export const proven = (claim: string, { verified, evidence }: Proof): Probe => ({
  claim,
  ask: () => Promise.resolve({ holds: verified, evidence }),
});

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

export const apiReached = (machine: Machine, expected: boolean): Probe =>
  asked(
    claims[expected ? 'API reached' : 'API not reached'],
    `${machine.node} → API server`,
    expected,
    () => machine.reachesApi(),
  );

/** Into the node, from the network of the outside clients. */
export const reachedByClients = (machine: Machine, expected: boolean): Probe =>
  asked(
    claims[expected ? 'clients reach' : 'clients do not reach'],
    `outside → ${machine.node}`,
    expected,
    () => machine.reachedFromOutside(),
  );

export const reachability = (machine: Machine, expected: boolean): Probe[] => [
  apiReached(machine, expected),
  reachedByClients(machine, expected),
];

const stalledOn = (machine: Machine, agents: readonly string[]): string =>
  `on ${machine.node} stands still: ${agents.join(', ') || 'nothing'}`;

export const agentsRun = (machine: Machine): Probe => ({
  claim: claims['agents run'],
  ask: async () => {
    const agents = await machine.stalled();
    return { holds: agents.length === 0, evidence: stalledOn(machine, agents) };
  },
});

/** Whether exactly the agents that such a stall stops stand still. */
export const agentsStandStill = (machine: Machine, stall: Stall): Probe => ({
  claim: claims[`${stall} stalled`],
  ask: async () => {
    const agents = await machine.stalled();
    const holds = stalls[stall].every((agent) => agents.includes(agent));
    return {
      holds: holds && agents.length === stalls[stall].length,
      evidence: stalledOn(machine, agents),
    };
  },
});

/** In at least this share of the scheduler's periods some process must have been stopped. */
const leastStopped = 0.5;

const throttled = (
  { machine }: Context,
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

const clockIs = (
  { machine }: Context,
  claim: string,
  holds: (behindMs: number) => boolean,
): Probe => ({
  claim,
  ask: async () => {
    const behindMs = await machine.clockBackMs();
    return { holds: holds(behindMs), evidence: `${machine.node} is ${behindMs / 1000} s behind` };
  },
});

export const componentProbe = (
  controlPlane: Required<Pick<ControlPlane, 'look'>>,
  component: Component,
  claim: string,
  holds: (look: ComponentLook) => boolean,
): Probe => ({
  claim,
  ask: async () => {
    const look = await controlPlane.look(component);
    const { process, stalled } = look;
    const evidence =
      process === undefined ? 'no process' : `process ${process}${stalled ? ' stands still' : ''}`;
    return { holds: holds(look), evidence: `${component}: ${evidence}` };
  },
});

const componentIs =
  (component: Component, state: 'runs' | 'stalled', claim: string) =>
  ({ testbed }: Context): Probe =>
    componentProbe(testbed.controlPlane, component, claim, ({ process, stalled }) =>
      state === 'runs' ? process !== undefined && !stalled : stalled,
    );

const annotated =
  (expected: boolean) =>
  ({ testbed, victim: { node } }: Context): Probe => ({
    claim: claims[expected ? 'lease annotated' : 'lease not annotated'],
    ask: async () => {
      const value = await testbed.kubernetes.leaseAnnotation(node);
      const evidence = `Lease ${node}: ${value === undefined ? 'no annotation' : `annotation ${value}`}`;
      return { holds: (value !== undefined) === expected, evidence };
    },
  });

export const probes: Readonly<Record<FaultProbe, (context: Context) => Probe>> = {
  'victim runs': ({ machine }) => isIn(machine, 'running', claims['victim runs']),
  'victim runs again': ({ machine }) => isIn(machine, 'running', claims['victim runs again']),
  'victim still runs': ({ machine }) => isIn(machine, 'running', claims['victim still runs']),
  'victim frozen': ({ machine }) => isIn(machine, 'frozen', claims['victim frozen']),
  'victim down': ({ machine }) => isIn(machine, 'stopped', claims['victim down']),
  'API reached': ({ machine }) => apiReached(machine, true),
  'API not reached': ({ machine }) => apiReached(machine, false),
  'clients reach': ({ machine }) => reachedByClients(machine, true),
  'clients do not reach': ({ machine }) => reachedByClients(machine, false),
  'agents run': ({ machine }) => agentsRun(machine),
  'kubelet stalled': ({ machine }) => agentsStandStill(machine, 'kubelet'),
  'containerd stalled': ({ machine }) => agentsStandStill(machine, 'containerd'),
  'runtime stalled': ({ machine }) => agentsStandStill(machine, 'runtime'),
  'CPU time': (context) => throttled(context, claims['CPU time'], (share) => share === 0),
  'no CPU time': (context) =>
    throttled(context, claims['no CPU time'], (share) => share >= leastStopped),
  'clock right': (context) => clockIs(context, claims['clock right'], (ms) => ms === 0),
  'clock behind': (context) => clockIs(context, claims['clock behind'], (ms) => ms > 0),
  'controller-manager runs': componentIs(
    'controller-manager',
    'runs',
    claims['controller-manager runs'],
  ),
  'controller-manager stalled': componentIs(
    'controller-manager',
    'stalled',
    claims['controller-manager stalled'],
  ),
  'api-server runs': componentIs('api-server', 'runs', claims['api-server runs']),
  'api-server stalled': componentIs('api-server', 'stalled', claims['api-server stalled']),
  'attacher runs': componentIs('attacher', 'runs', claims['attacher runs']),
  'attacher stalled': componentIs('attacher', 'stalled', claims['attacher stalled']),
  'control-plane runs': componentIs('control-plane', 'runs', claims['control-plane runs']),
  'control-plane stalled': componentIs('control-plane', 'stalled', claims['control-plane stalled']),
  'lease annotated': annotated(true),
  'lease not annotated': annotated(false),
};
