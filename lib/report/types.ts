/** The report's data contract: everything the page shows, plain data, made by report-data.ts. */
import type { Verdict } from '../experiment/verdict.ts';

/** How a bar is coloured: what it means for the volume, not which thing it is. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'neutral' | 'action';

/** A stretch of time on a lane, seconds after the fault. `fromS` equals `toS` for a moment. */
export interface Bar {
  readonly fromS: number;
  readonly toS: number;
  readonly tone: Tone;
  /** Short, drawn on the bar where it fits. */
  readonly label: string;
}

export interface Lane {
  /** What kind of thing, e.g. `pods`; lanes of one group stand together. */
  readonly group: string;
  readonly label: string;
  readonly bars: readonly Bar[];
}

/** A line: points of [seconds after the fault, value]; null breaks it. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [number, number | null])[];
}

/** What the time axis draws, in the browser and as a static picture. */
export interface Timeline {
  readonly fromS: number;
  readonly toS: number;
  readonly lanes: readonly Lane[];
  /** Shaded across everything: exposure. */
  readonly exposure: Bar | null;
  /** Vertical lines across everything: fault, remedy, heal. */
  readonly moments: readonly Bar[];
  /** Acknowledged commits per second, by client and the node that acknowledged. */
  readonly commits: readonly Series[];
  /** Slowest commit of each interval, ms. */
  readonly latency: readonly Series[];
  /** MiB written per device since it was attached. */
  readonly written: readonly Series[];
  /** Width of the intervals of `commits` and `latency`, seconds. */
  readonly bucketS: number;
}

/** One record of the history as a table row; its `id` is its number in the history. */
export interface RawRow {
  readonly id: number;
  readonly atS: number;
  readonly kind: string;
  readonly source: string;
  readonly text: string;
}

export interface LicenceRow {
  readonly atS: number;
  readonly step: string;
  readonly source: string;
  readonly evidence: string;
  /** Who asked for it, where a record tells. */
  readonly by?: string | undefined;
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
  readonly badge: string;
  readonly expectation: string;
  readonly loss: readonly LossRow[];
  readonly licence: readonly LicenceRow[];
  readonly licenceGaps: readonly string[];
  readonly laterLicences: readonly LaterLicence[];
  readonly recovery: readonly RecoveryStep[];
  /** The disk and its link in plain words, one sentence. */
  readonly disk: string;
  /** Real drivers that behave like this disk, one sentence; the page is docs/which-disk-is-mine.md. */
  readonly drivers: string;
  readonly appliesIf: readonly string[];
  readonly advice: readonly string[];
  readonly notTested: readonly string[];
  readonly timeline: Timeline;
  /** Capped; `rawMore` rows are only in the history. */
  readonly raw: readonly RawRow[];
  readonly rawMore: number;
  /** Operations in the history, which the raw rows leave out. */
  readonly operations: number;
}
