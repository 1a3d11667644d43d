/**
 * Network partition: the victim is off the cluster's network, alive and writing. Where its storage
 * hangs on the same cable (scenario `link`), its path to the disk stalls or fails as well.
 */
import { able, type Able } from '../capabilities.ts';
import type { Machine } from '../cluster/machine-port.ts';
import type { Disk } from '../storage/port.ts';
import { certify, onEach, stepOf, type FaultOf, type Probe, type StruckVolume } from './fault.ts';
import { networkPartition as kind } from './kinds/network-partition.ts';
import { isIn, proven, reachability } from './probes.ts';

const { name, leastMs } = kind;

/** The scenario's `link` asks for it, not each partition. */
const linkOf = ({ disk }: StruckVolume): Able<Disk, 'disk', 'storage-link'> =>
  able(disk, 'disk', ['storage-link']);

const severed = {
  stalls: 'the victim’s path to the disk stalls: its requests are held',
  errors: 'the victim’s path to the disk fails: its requests are I/O errors',
} as const;

const offTheNetwork = (machine: Machine): readonly Probe[] => [
  ...reachability(machine, false),
  isIn(machine, 'running', 'the victim itself still runs'),
];

export const networkPartition: FaultOf<typeof kind> = {
  name,
  leastMs,

  async inject(context): Promise<void> {
    const { testbed, recorder, victim, volumes } = context;
    const machine = testbed.machine(victim.node);
    const step = stepOf(name, context);
    await certify(recorder, name, 'before', reachability(machine, true));
    step('begin');
    await machine.disconnect();
    const certificates = await onEach(volumes, async (volume) => {
      const { link } = volume.scenario;
      if (link === 'survives') return undefined;
      const path = await linkOf(volume).sever(victim.node, link);
      return () => certify(volume.recorder, name, 'during', [proven(severed[link], path)]);
    });
    step('done');
    for (const certifyPath of certificates) await certifyPath?.();
    await certify(recorder, name, 'during', offTheNetwork(machine));
  },

  holds: ({ testbed, victim }) => offTheNetwork(testbed.machine(victim.node)),

  /**
   * One cable: both come back together. The storage is first, since a disk driver's retries get
   * through at once while a kubelet takes seconds to connect again. The other way round Kubernetes
   * could end the old database before its held writes arrive, which no cable grants.
   */
  async heal(context): Promise<void> {
    const { testbed, recorder, victim, volumes } = context;
    const machine = testbed.machine(victim.node);
    const step = stepOf(name, context);
    step('heal');
    let certificates: readonly (undefined | (() => Promise<void>))[] = [];
    try {
      certificates = await onEach(volumes, async (volume) => {
        if (volume.scenario.link === 'survives') return undefined;
        const claim = 'the victim’s path to the disk is back';
        const path = await linkOf(volume).restore(victim.node);
        return () => certify(volume.recorder, name, 'after', [proven(claim, path)]);
      });
    } finally {
      await machine.reconnect();
    }
    step('healed');
    await certify(recorder, name, 'after', reachability(machine, true));
    for (const certifyPath of certificates) await certifyPath?.();
  },
};
