/**
 * Flapping partition: off the cluster's network and back on it, over and over. Each return stops
 * an eviction; what was decided meanwhile stays.
 */
import {
  certify,
  heartbeatMs,
  stepOf,
  type Fault,
  type FaultContext,
  type Moments,
} from './fault.ts';
import { reachability } from './probes.ts';

const name = 'flapping-partition';

export const flappingPartition: Fault = {
  name,
  leastMs: heartbeatMs,

  async inject(context: FaultContext): Promise<void> {
    const { testbed, recorder, victim } = context;
    const machine = testbed.machine(victim.node);
    const step = stepOf(name, context);
    await certify(recorder, name, 'before', reachability(machine, true));
    step('begin');
    await machine.disconnect();
    step('done');
    await certify(recorder, name, 'during', reachability(machine, false));
  },

  async goOn({ testbed, recorder, victim, scenario }: FaultContext, moments: Moments) {
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

  async heal(context: FaultContext): Promise<void> {
    const { testbed, recorder, victim } = context;
    const machine = testbed.machine(victim.node);
    const step = stepOf(name, context);
    step('heal');
    await machine.reconnect();
    step('healed');
    await certify(recorder, name, 'after', reachability(machine, true));
  },
};
