/** The report's data contract: everything the page shows, plain data, made by report-data.ts. */
import type { FirstScreen } from './first-screen.ts';
import type { Verdict, LicenceStep } from '../experiment/verdict/verdict.ts';

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

/** Whose lane it is: the run's own, the node's that the fault hit, that of the node that came next … */
export type Role = 'run' | 'control-plane' | 'victim' | 'successor' | 'other';

export interface Lane {
  /** What kind of thing, e.g. `pods`; lanes of one group stand together. */
  readonly group: string;
  readonly role: Role;
  /** Null where no node is meant. */
  readonly node: string | null;
  /** Without the node's name. */
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
  /** Vertical lines across everything, those that matter most first: fault, remedy, heal, the phases. */
  readonly moments: readonly Bar[];
  /** What is shown first: the fault and the hand-over; the whole axis where there was none. */
  readonly first: readonly [number, number];
  /** MiB written per device since it was attached. */
  readonly written: readonly Series[];
}

/** A connection of a client to the database on one node. */
export interface OperationStream {
  readonly client: string;
  readonly connection: number;
  readonly node: string;
}

/** What the columns of operations need besides. */
export interface OperationsAbout {
  readonly count: number;
  /** End of the first operation, µs after the fault. */
  readonly firstUs: number;
  readonly streams: readonly OperationStream[];
  /** Errors by number; the first is none. */
  readonly errors: readonly string[];
}

/** Operations in the order of their ends, one value each in every column. */
export interface OperationColumns extends Pick<OperationsAbout, 'streams' | 'errors'> {
  /** When the outcome was known, µs after the fault. */
  readonly endUs: Float64Array;
  /** From sent to known, µs. */
  readonly latencyUs: Float64Array;
  /** Number of the stream. */
  readonly stream: Uint16Array;
  /** Outcome, kind and the like: browser/operations.js. */
  readonly flags: Uint8Array;
  readonly session: Uint32Array;
  readonly seq: Uint32Array;
  /** Number of the error. */
  readonly error: Uint32Array;
}

export interface PackedOperations {
  readonly about: OperationsAbout;
  /** Varints, deflated, in base64. */
  readonly packed: string;
}

/** Operations with what every view of them needs. */
export interface PreparedOperations {
  readonly columns: OperationColumns;
  readonly clients: readonly string[];
  /** Number of the client, by stream. */
  readonly clientOf: readonly number[];
  /** `client → node`, where anything was acknowledged. */
  readonly lines: readonly string[];
  /** Number of the line, by stream. */
  readonly lineOf: readonly number[];
  /** Time since the client's acknowledged operation before, µs. */
  readonly pauseUs: Float64Array;
  /** Each client's last acknowledgement, µs after the fault. */
  readonly lastUs: readonly number[];
}

/** What the plots show of a stretch of time. */
export interface PlotData {
  /** Width of the intervals, seconds. */
  readonly widthS: number;
  /** Operations that ended in view: from, to (exclusive). */
  readonly inView: readonly [number, number];
  /** Acknowledged commits per second, by client and the node that acknowledged. */
  readonly rates: readonly Series[];
  /** Slowest acknowledged commit of each interval, ms. */
  readonly slowest: readonly Series[];
  /** Slowest of those that failed or whose outcome is unknown, by client, ms. */
  readonly troubles: readonly Series[];
  /** Longest time without an acknowledged commit that reaches into the interval, by client, ms. */
  readonly pauses: readonly Series[];
  /** Operations to draw one by one; null where they are too many. */
  readonly points: readonly number[] | null;
}

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
