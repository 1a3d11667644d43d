/** The checker port: a pure function from one run's evidence to findings. One checker a file. */
import type { Finding } from '../experiment/verdict.ts';
import type { ImageRecord } from '../history/events.ts';
import type { Reconciliation } from './reconcile.ts';

/** Everything a checker may look at. */
export interface CheckerInput {
  /** Audited copies, in the order they were taken. */
  readonly images: readonly ImageRecord[];
  /** Ledger against journal, by image. */
  readonly reconciliations: ReadonlyMap<ImageRecord['image'], Reconciliation>;
}

export interface Checker {
  readonly name: string;
  /** Must not throw; one that does makes the verdict incomplete. */
  readonly check: (input: CheckerInput) => readonly Finding[];
}
