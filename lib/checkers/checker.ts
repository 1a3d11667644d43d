/** The checker port: a pure function from one run's evidence to findings. One checker a file. */
import type { Finding } from '../experiment/verdict.ts';
import type { BinlogReconciliation } from './reconcile-binlog.ts';
import type { DocumentReconciliation } from './reconcile-documents.ts';
import type { ImageEvidence } from './evidence.ts';
import type { SchemaChange } from './schema-change.ts';
import type { Reconciliation } from './reconcile.ts';

/** One audited copy of the volume and what the ledger on it became. */
export interface AuditedImage {
  /** What it is called in findings: a label of the run's images, or a crash state's name. */
  readonly image: string;
  readonly evidence: ImageEvidence;
  readonly reconciliation: Reconciliation;
  /** Absent where the audit did not read them. */
  readonly documents?: DocumentReconciliation;
  /** Absent where the audit did not read it, or not all of the ledger. */
  readonly binlog?: BinlogReconciliation;
  /** When the copy was begun, ms on the run's clock. */
  readonly takenAtMs: number;
  /** What the run's journal says of the change of the schema. Default: nobody asked for one. */
  readonly schemaChange?: SchemaChange;
  /** The history tells of the whole workload, and so must the audit. Default false. */
  readonly wholeWorkload?: boolean;
  /** The server was to keep a binary log. Default false. */
  readonly hasBinlog?: boolean;
  /** The audited image taken before this one. */
  readonly before?: AuditedImage;
}

export interface Checker {
  readonly name: string;
  /** Asked for each image. Must not throw; one that does makes the verdict incomplete. */
  readonly check: (image: AuditedImage) => readonly Finding[];
}
