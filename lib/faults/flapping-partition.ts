/**
 * Flapping partition: off the cluster's network and back on it, over and over. Each return stops
 * an eviction; what was decided meanwhile stays.
 */
import { certify, type FaultOf } from './fault.ts';
import { flappingPartition as kind } from './kinds/flapping-partition.ts';
import { lastingFault } from './lasting.ts';
import { reachability } from './probes.ts';

const { name } = kind;

// What it says holds until it flaps, and each time it says so anew.
const { holds: _, ...partition } = lastingFault(kind, {
  breaks: ({ machine }) => machine.disconnect(),
  mends: ({ machine }) => machine.reconnect(),
  whole: ({ machine }) => reachability(machine, true),
  broken: ({ machine }) => reachability(machine, false),
});

export const flappingPartition: FaultOf<typeof kind> = {
  ...partition,

  async goOn({ testbed, recorder, victim, scenario }, moments) {
    const machine = testbed.machine(victim.node);
    const { flapDownMs, flapUpMs } = scenario;
    for (;;) {
      if (!(await moments.passed(flapDownMs))) return;
      await machine.reconnect();
      await certify(recorder, name, 'during', reachability(machine, true));
      if (!(await moments.passed(flapUpMs))) return;
      await machine.disconnect();
      await certify(recorder, name, 'during', reachability(machine, false));
    }
  },
};
