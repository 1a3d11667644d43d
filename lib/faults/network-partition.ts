/** Network partition: the victim is off the cluster's network, alive and writing. */
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

export const networkPartition: Fault = {
  name,

  async inject({ testbed, recorder, victim }: FaultContext): Promise<void> {
    const machine = testbed.machine(victim.node);
    await certify(recorder, name, 'before', reachability(machine, true));
    recorder.record({ type: 'action', actor: 'fault', name, step: 'begin', node: victim.node });
    await machine.disconnect();
    recorder.record({ type: 'action', actor: 'fault', name, step: 'done', node: victim.node });
    await certify(recorder, name, 'during', [
      ...reachability(machine, false),
      {
        claim: 'the victim itself still runs',
        ask: async () => {
          const state = await machine.state();
          return { holds: state === 'running', evidence: `${victim.node} is ${state}` };
        },
      },
    ]);
  },

  async heal({ testbed, recorder, victim }: FaultContext): Promise<void> {
    const machine = testbed.machine(victim.node);
    recorder.record({ type: 'action', actor: 'fault', name, step: 'heal', node: victim.node });
    await machine.reconnect();
    recorder.record({ type: 'action', actor: 'fault', name, step: 'healed', node: victim.node });
    await certify(recorder, name, 'after', reachability(machine, true));
  },
};
