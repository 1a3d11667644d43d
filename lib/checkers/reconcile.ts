/** Ledger against journal: what every acknowledged operation became. (Shapes; see below.) */
import type { OpId } from '../workload/sql.ts';

/** When and by whom an acknowledged operation was acknowledged. */
export type Epoch = 'beforeFault' | 'victimBeforeHandover' | 'victimAfterHandover' | 'successor';

export interface AckedOp extends OpId {
  /** When the acknowledgement came, ms on the run's clock. */
  readonly ackedAtMs: number;
  readonly epoch: Epoch;
}

export interface EpochCount {
  acked: number;
  lost: number;
}

export interface Reconciliation {
  /** Acknowledged operations that the image must hold: those acked before it was taken. */
  readonly acked: number;
  readonly present: number;
  readonly lost: number;
  readonly byEpoch: Readonly<Record<Epoch, EpochCount>>;
  /** Every lost operation, in order of acknowledgement, at most `sampleLimit`; `lost` has the count. */
  readonly lostOps: readonly AckedOp[];
  /** Rows nobody ever sent, and rows of operations that failed for certain. */
  readonly phantoms: readonly OpId[];
  /** Operations present more than once. */
  readonly duplicates: readonly OpId[];
  /** Rows whose hash does not fit their content, or that differ from what was sent. */
  readonly torn: readonly OpId[];
  /** Rows whose link to the row before them in their session is broken. */
  readonly brokenLinks: readonly OpId[];
  /** Operations of unknown outcome: never lost, never phantom. */
  readonly unknownPresent: number;
  readonly unknownAbsent: number;
}
