/** The remedy port: what removes the old pod so that the database can start elsewhere. */
import type { Capability } from '../../core/index.ts';
import type { FaultContext } from '../faults/fault.ts';

/**
 * `volumes`: those that it is for. What is done to the node meets all there; what is done to a pod, its
 * own. `C`: as that of a FaultContext.
 */
export interface RemedyContext<C extends Capability = never>
  extends Pick<FaultContext<C>, 'testbed' | 'recorder' | 'victim' | 'volumes'> {
  /** The remedy's. */
  readonly name: string;
  /** Aborted once the remedy is given up: it then begins nothing more. */
  readonly signal: AbortSignal;
}

/** `C`: what it needs of a cluster, as that of a Fault. */
export interface Remedy<C extends Capability = Capability> {
  readonly name: string;
  /** Acts once. Resolves to what came of it, where that is worth a line in the history. */
  readonly apply: (context: RemedyContext<C>) => Promise<string | undefined>;
  /** Takes back what would outlive the run. Idempotent; absent where nothing does. */
  readonly undo?: (context: RemedyContext<C>) => Promise<void>;
}
