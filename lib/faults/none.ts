/** No fault: the node is whole, and what happens to its database is a remedy's doing alone. */
import type { Machine } from '../cluster/machine-port.ts';
import type { FaultOf, Probe } from './fault.ts';
import { none as kind } from './kinds/none.ts';
import { lastingFault, type LastingContext } from './lasting.ts';
import { agentsRun, isIn, reachability } from './probes.ts';

const runs = (machine: Machine): Probe[] => [
  isIn(machine, 'running', 'the victim runs'),
  agentsRun(machine),
];
const whole = (context: LastingContext): Probe[] => [
  ...runs(context.machine),
  ...reachability(context.machine, true),
];

const nothing = (): Promise<void> => Promise.resolve();

/** Its certificates say that nothing was broken while the remedy acted. */
export const none: FaultOf<typeof kind> = {
  ...lastingFault(kind, { breaks: nothing, mends: nothing, whole, broken: whole }),
  // A second fault may take the API server away meanwhile.
  holds: ({ testbed, victim }) => runs(testbed.machine(victim.node)),
};
