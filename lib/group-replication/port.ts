/** What a run asks of a cluster with a replication group on it; kind implements it. */
import type { LedgerRow } from '../checkers/evidence.ts';
import type { KubernetesTestbed, PodRef } from '../cluster/port.ts';
import type { Disk } from '../storage/port.ts';
import type { GroupView } from './views.ts';

/** What one member holds. */
export interface LedgerReading {
  readonly node: string;
  readonly rows: number;
  /** CHECKSUM TABLE of the ledger and of the accounts. */
  readonly checksums: readonly string[];
  /** @@gtid_executed. */
  readonly gtids: string;
  /** Part of these beyond the set that it was asked to have; `` for nothing. */
  readonly beyond: string;
}

export interface GroupTestbed extends KubernetesTestbed {
  /** Member pods, by node. */
  members(): ReadonlyMap<string, PodRef>;
  /** The backend of one member's volume. */
  disk(node: string): Disk;
  /** The newest views: by the outside network, and from each member's own node. */
  views(side: 'inside' | 'outside'): readonly GroupView[];
  /**
   * Reads a member's whole ledger from its own node, in primary key order. `upTo`: transactions for
   * which it waits first, bounded. Rejects where the member does not answer.
   */
  readLedger(
    node: string,
    upTo: string | undefined,
    onRow: (row: LedgerRow) => void,
  ): Promise<LedgerReading>;
}
