/** The report's data contract: everything the page shows, plain data, made by report-data.ts. */
import type { OperationColumns } from './axis/operations.ts';
import type { Timeline } from './axis/timeline.ts';
import type { FirstScreen } from './first-screen.ts';
import type { Verdict, LicenceStep } from '../experiment/verdict/verdict.ts';

/** One record of the history as a table row; its `id` is its number among those that are no operations. */
export interface RawRow {
  readonly id: number;
  readonly atS: number;
  readonly kind: string;
  readonly source: string;
  readonly text: string;
  /** It tells the story, and so stands in the page without JavaScript, too. */
  readonly isKey: boolean;
}

export interface LicenceRow extends Readonly<Omit<LicenceStep, 'recordMs'>> {
  /** The raw row that proves it; null where none was matched. */
  readonly rowId: number | null;
}

/** How the volume passed from one node to another once more. */
export interface LaterLicence {
  readonly title: string;
  readonly rows: readonly LicenceRow[];
  /** Links that no record proves. */
  readonly gaps: readonly string[];
}

export interface LossRow {
  readonly epoch: string;
  readonly acked: number;
  readonly lost: number;
}

/** A stretch of the way from the fault to the successor's first commit. */
export interface RecoveryStep {
  readonly name: string;
  readonly fromS: number;
  readonly toS: number;
}

export interface ReportData {
  readonly verdict: Verdict;
  readonly first: FirstScreen;
  /** Empty where no copy can tell. */
  readonly loss: readonly LossRow[];
  readonly licence: readonly LicenceRow[];
  readonly licenceGaps: readonly string[];
  readonly laterLicences: readonly LaterLicence[];
  readonly recovery: readonly RecoveryStep[];
  readonly advice: readonly string[];
  /** Conditions that the verdict needs; nothing where they are not known. */
  readonly appliesIf: readonly string[];
  /** Real drivers that behave like this disk, where the disk decides. */
  readonly appliesNote: string;
  readonly notTested: readonly string[];
  /** What the model recorded that it does not know; nothing where the run was real. */
  readonly modelLimits: readonly string[];
  readonly timeline: Timeline;
  /** Every record but operations; `rawMore` rows past a great many are only in the history. */
  readonly raw: readonly RawRow[];
  readonly rawMore: number;
  readonly operations: OperationColumns;
}
