/** A fault that breaks something at once, lasts, and gives it back at the heal. */
import type { Capability } from '../../core/index.ts';
import type { MachineWith } from '../ports/machine-port.ts';
import { certify, stepOf, type Fault, type FaultContext, type Probe } from './fault.ts';

export interface LastingContext<C extends Capability = never> extends FaultContext<C> {
  /** The fault's. */
  readonly name: string;
  /** The victim's. */
  readonly machine: MachineWith<C>;
}

/** Certificates of what a step proved itself, to be recorded after it. */
export type Proofs = readonly (() => Promise<void>)[];

/** What a fault that breaks at once and lasts is made from. */
export interface LastingFault<C extends Capability = never> {
  readonly breaks: (context: LastingContext<C>) => Promise<void>;
  /** Gives it back. Must be idempotent, and may follow a `breaks` that failed: it also runs after Ctrl-C. */
  readonly mends: (context: LastingContext<C>) => Promise<void>;
  /** Hold before it and after it. */
  readonly whole: (context: LastingContext<C>) => readonly Probe[];
  /** Hold while it lasts. */
  readonly broken: (context: LastingContext<C>) => readonly Probe[];
}

/** What it is called, how long it lasts at least, and what it needs of a cluster. */
interface LastingName<C extends Capability> {
  readonly name: string;
  readonly leastMs: number;
  readonly needs?: readonly C[];
}

export const withMachine = <C extends Capability>(
  name: string,
  context: FaultContext<C>,
): LastingContext<C> => ({
  ...context,
  name,
  machine: context.testbed.machine(context.victim.node),
});

export const lastingFault = <const C extends Capability = never>(
  { name, leastMs }: LastingName<C>,
  { breaks, mends, whole, broken }: LastingFault<NoInfer<C>>,
): Fault<C> => ({
  name,
  leastMs,

  async inject(given): Promise<void> {
    const context = withMachine(name, given);
    const step = stepOf(name, context);
    await certify(context.recorder, name, 'before', whole(context));
    step('begin');
    await breaks(context);
    step('done');
    await certify(context.recorder, name, 'during', broken(context));
  },

  holds: (given) => broken(withMachine(name, given)),

  async heal(given): Promise<void> {
    const context = withMachine(name, given);
    const step = stepOf(name, context);
    step('heal');
    await mends(context);
    step('healed');
    await certify(context.recorder, name, 'after', whole(context));
  },
});
