/** The checker port: a pure function from one run's evidence to findings. One checker a file. */
import type { Finding } from '../experiment/verdict.ts';
import type { ImageEvidence } from './evidence.ts';
import type { Reconciliation } from './reconcile.ts';

/** One audited copy of the volume and what the ledger on it became. */
export interface AuditedImage {
  /** What it is called in findings: a label of the run's images, or a crash state's name. */
  readonly image: string;
  readonly evidence: ImageEvidence;
  readonly reconciliation: Reconciliation;
  /** The audited image taken before this one. */
  readonly before?: AuditedImage;
}

export interface Checker {
  readonly name: string;
  /** Asked for each image. Must not throw; one that does makes the verdict incomplete. */
  readonly check: (image: AuditedImage) => readonly Finding[];
}
