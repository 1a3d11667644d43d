/** The remedy port: what removes the old pod so that the database can start elsewhere. */
import type { PodRef, Testbed } from '../cluster/port.ts';

export interface Remedy {
  readonly name: string;
  apply(testbed: Testbed, victim: PodRef): Promise<void>;
  /** Takes back what would outlive the run, after the heal. Idempotent. */
  undo(testbed: Testbed, victim: PodRef): Promise<void>;
}
