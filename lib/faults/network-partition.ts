/**
 * Network partition: the victim is off the cluster's network, alive and writing. Where its storage
 * hangs on the same cable (scenario `link`), its path to the disk stalls or fails as well.
 */
import type { Machine } from '../cluster/port.ts';
import { certify, type Fault, type FaultContext, type Probe } from './fault.ts';

const name = 'network-partition';

/** Both directions are asked: out of the node to the API, and from the clients' network to it. */
function reachability(machine: Machine, expected: boolean): Probe[] {
  const verb = expected ? 'reaches' : 'does not reach';
  const answer = async (
    ask: () => Promise<boolean>,
    path: string,
  ): Promise<{ holds: boolean; evidence: string }> => {
    const reached = await ask();
    return {
      holds: reached === expected,
      evidence: `${path}: ${reached ? 'reached' : 'not reached'}`,
    };
  };
  return [
    {
      claim: `the victim ${verb} the API server`,
      ask: () => answer(() => machine.reachesApi(), `${machine.node} → API server`),
    },
    {
      claim: `the outside network ${verb} the victim`,
      ask: () => answer(() => machine.reachedFromOutside(), `outside → ${machine.node}`),
    },
  ];
}

interface Proof {
  readonly verified: boolean;
  readonly evidence: string;
}

const proven = (claim: string, { verified, evidence }: Proof): Probe => ({
  claim,
  ask: () => Promise.resolve({ holds: verified, evidence }),
});

const severed = {
  stalls: 'the victim’s path to the disk stalls: its requests are held',
  errors: 'the victim’s path to the disk fails: its requests are I/O errors',
} as const;

export const networkPartition: Fault = {
  name,

  async inject({ testbed, recorder, victim, link }: FaultContext): Promise<void> {
    const machine = testbed.machine(victim.node);
    await certify(recorder, name, 'before', reachability(machine, true));
    recorder.record({ type: 'action', actor: 'fault', name, step: 'begin', node: victim.node });
    await machine.disconnect();
    const path = link === 'survives' ? undefined : await testbed.disk.sever(victim.node, link);
    recorder.record({ type: 'action', actor: 'fault', name, step: 'done', node: victim.node });
    await certify(recorder, name, 'during', [
      ...reachability(machine, false),
      ...(link === 'survives' || path === undefined ? [] : [proven(severed[link], path)]),
      {
        claim: 'the victim itself still runs',
        ask: async () => {
          const state = await machine.state();
          return { holds: state === 'running', evidence: `${victim.node} is ${state}` };
        },
      },
    ]);
  },

  /**
   * One cable: both come back together. The storage is first, since a disk driver's retries get
   * through at once while a kubelet takes seconds to connect again. The other way round Kubernetes
   * could end the old database before its held writes arrive, which no cable grants.
   */
  async heal({ testbed, recorder, victim, link }: FaultContext): Promise<void> {
    const machine = testbed.machine(victim.node);
    recorder.record({ type: 'action', actor: 'fault', name, step: 'heal', node: victim.node });
    let path: Proof | undefined;
    try {
      if (link !== 'survives') path = await testbed.disk.restore(victim.node);
    } finally {
      await machine.reconnect();
    }
    recorder.record({ type: 'action', actor: 'fault', name, step: 'healed', node: victim.node });
    await certify(recorder, name, 'after', [
      ...reachability(machine, true),
      ...(path === undefined ? [] : [proven('the victim’s path to the disk is back', path)]),
    ]);
  },
};
