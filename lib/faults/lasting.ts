/** A fault that breaks something at once, lasts, and gives it back at the heal. */
import type { Machine } from '../cluster/port.ts';
import {
  certify,
  heartbeatMs,
  stepOf,
  type Fault,
  type FaultContext,
  type Probe,
} from './fault.ts';

export interface LastingContext extends FaultContext {
  /** The victim's. */
  readonly machine: Machine;
}

/** What a fault that breaks at once and lasts is made from. */
export interface LastingFault {
  readonly name: string;
  readonly breaks: (context: LastingContext) => Promise<void>;
  /** Gives it back. Must be idempotent, and may follow a `breaks` that failed: it also runs after Ctrl-C. */
  readonly mends: (context: LastingContext) => Promise<void>;
  /** Hold before it and after it. */
  readonly whole: (context: LastingContext) => readonly Probe[];
  /** Hold while it lasts. */
  readonly broken: (context: LastingContext) => readonly Probe[];
}

const withMachine = (context: FaultContext): LastingContext => ({
  ...context,
  machine: context.testbed.machine(context.victim.node),
});

export const lastingFault = ({ name, breaks, mends, whole, broken }: LastingFault): Fault => ({
  name,
  leastMs: heartbeatMs,

  async inject(given: FaultContext): Promise<void> {
    const context = withMachine(given);
    const step = stepOf(name, context);
    await certify(context.recorder, name, 'before', whole(context));
    step('begin');
    await breaks(context);
    step('done');
    await certify(context.recorder, name, 'during', broken(context));
  },

  holds: (given: FaultContext) => broken(withMachine(given)),

  async heal(given: FaultContext): Promise<void> {
    const context = withMachine(given);
    const step = stepOf(name, context);
    step('heal');
    await mends(context);
    step('healed');
    await certify(context.recorder, name, 'after', whole(context));
  },
});
