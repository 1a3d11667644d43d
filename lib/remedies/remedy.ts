/** The remedy port: what removes the old pod so that the database can start elsewhere. */
import type { FaultContext } from '../faults/fault.ts';

/** `volumes`: those that it is for. What is done to the node meets all there; what is done to a pod, its own. */
export interface RemedyContext
  extends Pick<FaultContext, 'testbed' | 'recorder' | 'victim' | 'volumes'> {
  /** Aborted once the remedy is given up: it then begins nothing more. */
  readonly signal: AbortSignal;
}

export interface Remedy {
  readonly name: string;
  /** Acts once. Resolves to what came of it, where that is worth a line in the history. */
  apply(context: RemedyContext): Promise<string | undefined>;
  /** Takes back what would outlive the run. Idempotent; absent where nothing does. */
  undo?(context: RemedyContext): Promise<void>;
}
