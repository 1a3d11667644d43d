/** The checker port: a pure function from one run's evidence to findings. One checker a file. */
import type { DatabaseChoice } from '../../scenario/index.ts';
import type { Finding } from '../verdict/verdict.ts';
import type { DocumentReconciliation } from './reconcile-documents.ts';
import type { ImageEvidence } from '../../history/index.ts';
import type { Journal, SessionLog } from './journal.ts';
import type { Reconciliation } from './reconcile.ts';

/** What the run's journal says of the change of the schema. */
export interface SchemaChange {
  /** Ms on the run's clock; absent where it never was. */
  readonly sentAtMs?: number;
  /** When it was acknowledged; absent where it was not. */
  readonly ackedAtMs?: number;
  /** The server refused it: it did not happen. */
  readonly isRefused: boolean;
}

/** One audited copy of the volume and what the ledger on it became. */
export interface AuditedImage {
  /** What it is called in findings: a label of the run's images, or a crash state's name. */
  readonly image: string;
  readonly evidence: ImageEvidence;
  readonly reconciliation: Reconciliation;
  /** Absent where the audit did not read them. */
  readonly documents?: DocumentReconciliation;
  /** For checks that hold another record of the commits against the ledger. Absent where not all of it was read. */
  readonly ledger?: LedgerLookup;
  /** When the copy was begun, ms on the run's clock. */
  readonly takenAtMs: number;
  /** Default: nobody asked for one. */
  readonly schemaChange?: SchemaChange;
  /** The history tells of the whole workload, and so must the audit. Default false. */
  readonly wholeWorkload?: boolean;
  /** What the server was set to. Default: what asks least of it. */
  readonly settings?: DatabaseChoice;
  /** The audited image taken before this one. */
  readonly before?: AuditedImage;
}

/** What one image's ledger has of the operations that clients sent. */
export interface LedgerLookup {
  readonly journal: Journal;
  /** The ledger has the row of an operation that was sent. */
  readonly holds: (log: SessionLog, seq: number) => boolean;
  /**
   * Where the server does not sync each commit: the ledger may lack what was acknowledged later than
   * this, or never. Default: nothing.
   */
  readonly syncedUntilMs?: number;
  /** Clients whose journals have gaps. Default: none. */
  readonly withGaps?: ReadonlySet<string>;
}

/** A check of an audited copy of the volume, pure: the same evidence gives the same findings. */
export interface Checker {
  readonly name: string;
  /** Asked for each image. Must not throw; one that does makes the verdict incomplete. */
  readonly check: (image: AuditedImage) => readonly Finding[];
}

/** The database's own checks, beside those that every database has. */
export interface OwnChecks {
  /** Its logs of transactions against its tables. */
  readonly logs: readonly Checker[];
  /** Its tables and files by its own tools. */
  readonly structures: readonly Checker[];
}
