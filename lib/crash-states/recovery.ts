/** The port to whatever can rebuild a volume as a loss of power left it, and recover it. */
import type { ImageEvidence, LedgerRow } from '../checkers/evidence.ts';
import type { PlannedState } from './plan-states.ts';

export interface Recovered {
  /**
   * File system, server, rows. Parts that were not asked for are simply absent: the comparison of
   * indexes, CHECK TABLE and fsck unless the state was to be looked at thoroughly.
   */
  readonly evidence: ImageEvidence;
  /** Writes of that moment that no flush had covered, and those of them that are on the image. */
  readonly unflushed: number;
  readonly survived: number;
}

export interface RecoverOptions {
  /** Also compares the indexes, asks CHECK TABLE in a server of its own, and runs fsck. */
  readonly thorough: boolean;
  /** Rows in primary key order. */
  readonly onRows: (rows: readonly LedgerRow[]) => void;
}

export interface Recovery {
  /** States that can be worked on at a time. */
  readonly workers: number;
  /**
   * States must be asked for in the order of their positions, without waiting for each other.
   * Rejects only where the volume can't be rebuilt or the work was aborted.
   */
  recover(state: PlannedState, options: RecoverOptions): Promise<Recovered>;
}
