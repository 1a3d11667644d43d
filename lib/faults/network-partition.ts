/**
 * Network partition: the victim is off the cluster's network, alive and writing. Where its storage
 * hangs on the same cable (scenario `link`), its path to the disk stalls or fails as well.
 */
import type { Machine } from '../cluster/port.ts';
import { able, type Proof } from '../storage/port.ts';
import {
  certify,
  heartbeatMs,
  stepOf,
  type Fault,
  type FaultContext,
  type Probe,
} from './fault.ts';
import { isIn, proven, reachability } from './probes.ts';

const name = 'network-partition';

const severed = {
  stalls: 'the victim’s path to the disk stalls: its requests are held',
  errors: 'the victim’s path to the disk fails: its requests are I/O errors',
} as const;

const offTheNetwork = (machine: Machine): readonly Probe[] => [
  ...reachability(machine, false),
  isIn(machine, 'running', 'the victim itself still runs'),
];

export const networkPartition: Fault = {
  name,
  leastMs: heartbeatMs,

  async inject(context: FaultContext): Promise<void> {
    const { testbed, recorder, victim, scenario } = context;
    const { link } = scenario;
    const machine = testbed.machine(victim.node);
    const step = stepOf(name, context);
    await certify(recorder, name, 'before', reachability(machine, true));
    step('begin');
    await machine.disconnect();
    const path =
      link === 'survives' ? undefined : await able(testbed.disk, 'sever')(victim.node, link);
    step('done');
    await certify(recorder, name, 'during', [
      ...(link === 'survives' || path === undefined ? [] : [proven(severed[link], path)]),
      ...offTheNetwork(machine),
    ]);
  },

  holds: ({ testbed, victim }) => offTheNetwork(testbed.machine(victim.node)),

  /**
   * One cable: both come back together. The storage is first, since a disk driver's retries get
   * through at once while a kubelet takes seconds to connect again. The other way round Kubernetes
   * could end the old database before its held writes arrive, which no cable grants.
   */
  async heal(context: FaultContext): Promise<void> {
    const { testbed, recorder, victim, scenario } = context;
    const machine = testbed.machine(victim.node);
    const step = stepOf(name, context);
    step('heal');
    let path: Proof | undefined;
    try {
      if (scenario.link !== 'survives') path = await able(testbed.disk, 'restore')(victim.node);
    } finally {
      await machine.reconnect();
    }
    step('healed');
    await certify(recorder, name, 'after', [
      ...reachability(machine, true),
      ...(path === undefined ? [] : [proven('the victim’s path to the disk is back', path)]),
    ]);
  },
};
