/** A fault that breaks one thing of the victim at once, lasts, and gives it back at the heal. */
import type { Machine } from '../cluster/port.ts';
import type { Scenario } from '../experiment/scenario.ts';
import type { FaultKind } from '../fault-kinds.ts';
import {
  certify,
  heartbeatMs,
  stepOf,
  type Fault,
  type FaultContext,
  type Probe,
} from './fault.ts';

export interface LastingFault {
  readonly name: FaultKind;
  readonly breaks: (machine: Machine, scenario: Scenario) => Promise<void>;
  readonly mends: (machine: Machine) => Promise<void>;
  /** Hold before it and after it. */
  readonly whole: (machine: Machine) => readonly Probe[];
  /** Hold while it lasts. */
  readonly broken: (machine: Machine) => readonly Probe[];
}

export function lastingFault({ name, breaks, mends, whole, broken }: LastingFault): Fault {
  return {
    name,
    leastMs: heartbeatMs,

    async inject(context: FaultContext): Promise<void> {
      const { testbed, recorder, victim, scenario } = context;
      const machine = testbed.machine(victim.node);
      const step = stepOf(name, context);
      await certify(recorder, name, 'before', whole(machine));
      step('begin');
      await breaks(machine, scenario);
      step('done');
      await certify(recorder, name, 'during', broken(machine));
    },

    async heal(context: FaultContext): Promise<void> {
      const { testbed, recorder, victim } = context;
      const machine = testbed.machine(victim.node);
      const step = stepOf(name, context);
      step('heal');
      await mends(machine);
      step('healed');
      await certify(recorder, name, 'after', whole(machine));
    },
  };
}
