/**
 * A claim: one claim of the articles on attach, detach and double writes that this project began
 * with, what is expected of it on the Kubernetes under test, and how a run's records answer it.
 */
import type { SmallRecord } from '../../lib/history/index.ts';
import type { ClaimReading } from './reading.ts';
import type { RecordedRun } from './recorded-run.ts';
import type { Bench } from './procedures/bench.ts';

/** What is done to a cluster of its own where no scenario shows it. */
export interface Procedure {
  /** Does it and records what it sees, into a history like any run's. */
  readonly act: (bench: Bench) => Promise<void>;
  /** Reads the answer from that history. */
  readonly read: (records: readonly SmallRecord[]) => ClaimReading;
}

export interface Claim {
  /** Number in docs/reference/claims.md. */
  readonly number: number;
  readonly title: string;
  /** What the articles say. */
  readonly statement: string;
  /** What Kubernetes 1.34 is expected to do, from its source. */
  readonly expected: string;
  /**
   * Scenarios whose histories answer, as a user would run them: a file of experiments/, without its
   * ending, and flags; stock timers where they name none.
   */
  readonly runs?: readonly string[];
  /** Reads the answer from the history of such a run. */
  readonly read?: (run: RecordedRun) => ClaimReading;
  readonly procedure?: Procedure;
}
