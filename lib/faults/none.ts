/** No fault: the node is whole, and what happens to its database is a remedy's doing alone. */
import type { Fault, Probe } from './fault.ts';
import { lastingFault, type LastingContext } from './lasting.ts';
import { agentsRun, isIn, reachability } from './probes.ts';

const whole = ({ machine }: LastingContext): Probe[] => [
  isIn(machine, 'running', 'the victim runs'),
  agentsRun(machine),
  ...reachability(machine, true),
];

const nothing = (): Promise<void> => Promise.resolve();

/** Its certificates say that nothing was broken while the remedy acted. */
export const none: Fault = {
  ...lastingFault({ name: 'none', breaks: nothing, mends: nothing, whole, broken: whole }),
  leastMs: 0,
};
