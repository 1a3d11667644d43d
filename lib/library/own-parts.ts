/** Helpers for a fault of one's own; remedies and checkers are plain objects. */
import type { OutOfBandShell } from '../cluster/node-shell.ts';
import type { Capability } from '../cluster/capabilities.ts';
import { EvidenceError } from '../errors.ts';
import type { CustomFault } from '../experiment/run/custom.ts';
import type { FaultContext } from '../faults/fault.ts';
import { lastingFault, type LastingFault } from '../faults/lasting.ts';

export interface CustomLastingFault extends LastingFault {
  /** The kind that it is judged as; see CustomFault. */
  readonly like: CustomFault['like'];
  /** Default: nothing beyond the port. */
  readonly needs?: readonly Capability[];
}

/** A fault that breaks something at once, lasts, and gives it back at the heal. */
export const customFault = ({ like, needs = [], ...lasting }: CustomLastingFault): CustomFault => ({
  ...lastingFault(lasting),
  ...{ like, needs },
});

/** The victim's, for a fault that `needs` the node shell. */
export function victimShell(context: Pick<FaultContext, 'testbed' | 'victim'>): OutOfBandShell {
  const { testbed, victim } = context;
  const shell = testbed.shell?.(victim.node);
  if (shell !== undefined) return shell;
  throw new EvidenceError('NO_NODE_SHELL', `${victim.node} has no shell that could be asked`, {
    hint: 'list node-shell in `needs`: then the run is refused before it begins',
  });
}
