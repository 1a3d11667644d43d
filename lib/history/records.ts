/** The vocabulary of a run's history: everything a verdict and a report are made from, and nothing else. Append-only; each record carries a monotonic and (where it helps) a wall time. */
import type { ObservationRecord, Stamped } from './observations.ts';
import type {
  ImageEvidence,
  LedgerRow,
  CopyIdentity,
  ImageLabel,
  VolumeIdentity,
} from './evidence.ts';
import type { OpId, OpKind, OpOutcome, ServerIdentity } from './workload.ts';
import type { DatabaseChoice, Basis, Scenario } from '../scenario/index.ts';

/** A client opened (or failed to open) a session. Operations refer to it by connection + session. */
export interface SessionRecord extends Stamped, Omit<OpId, 'seq'> {
  readonly type: 'session';
  /** Absent where the connect failed; then `error` says why. */
  readonly server?: ServerIdentity;
  readonly error?: string;
}

/** An operation is sent. `client` is the segment's owner. */
export interface InvokeRecord extends Stamped, OpId {
  readonly type: 'invoke';
  readonly kind: OpKind;
}

export interface OutcomeRecord extends Stamped, OpId {
  readonly type: 'outcome';
  readonly outcome: OpOutcome;
  readonly error?: string;
}

/** A client changes the schema, once in a run: `asked` before it has a session to send it on. */
export interface SchemaChangeRecord extends Stamped {
  readonly type: 'schema-change';
  readonly client: string;
  readonly step: 'asked' | 'sent' | 'ended';
  /** Part of `sent`. */
  readonly server?: ServerIdentity;
  /** Part of `ended`. */
  readonly outcome?: OpOutcome;
  readonly error?: string;
}

/** A client read the newest row of the ledger; `t` is when the answer came. */
export interface ReadRecord extends Stamped {
  readonly type: 'read';
  readonly client: string;
  readonly server: ServerIdentity;
  /** When it was asked, on the run's clock. */
  readonly sentAtMs: number;
  /** Absent where the ledger was empty. */
  readonly head?: OpId;
}

/** What one client is told to do. */
export interface ClientPlan {
  readonly client: string;
  readonly connections: number;
  /** Operations a second, of all its connections together. */
  readonly rate: number | 'max';
  /** Between two reads of the newest row, on a connection of their own; absent where it reads nothing. */
  readonly readEveryMs?: number;
}

/** What the clients are to do, told before they begin. Since version 3. */
export interface WorkloadRecord extends Stamped {
  readonly type: 'workload';
  readonly clients: readonly ClientPlan[];
}

/** A client lives: how many records of each type it has journaled by then. Since version 3. */
export interface ClientBeatRecord extends Stamped {
  readonly type: 'client-beat';
  readonly client: string;
  readonly doing: 'writing' | 'reading';
  /** By type of record; what never came is absent. Of a reader `refused` too: tries without an answer. */
  readonly done: Readonly<Record<string, number>>;
  /** It ends, as it was told to. */
  readonly last?: true;
}

/** Timers in force, milliseconds. */
export interface Timers {
  readonly nodeMonitorGraceMs: number;
  readonly nodeMonitorPeriodMs: number;
  readonly kubeletLeaseMs: number;
  readonly kubeletStatusMs: number;
  readonly tolerationMs: number;
  readonly forceDetachAfterMs: number;
  readonly terminationGraceMs: number;
}

/**
 * What a history holds. 2 (2026-11-24): journals end with their counts, observers beat, certificates
 * are asked again until the heal; where one of these is missing, evidence is missing. 3 (the same
 * day): clients write and delete documents and one changes the schema, and audits tell of all of it;
 * the volume and each of its copies have an identity; clients say what they are to do, and beat; all
 * observers beat, those of logs too; events have their type and count. 4 (2026-11-27): the scenario
 * is nested, and the run lists a hash of each file. migration.ts has what an earlier one is asked for.
 */
export type HistoryVersion = 1 | 2 | 3 | 4;
export const historyVersion = 4 satisfies HistoryVersion;

export interface CustomNames {
  readonly fault?: { readonly name: string; readonly askedAgain: boolean };
  readonly remedy?: { readonly name: string };
  readonly database?: { readonly name: string };
  readonly checkers?: readonly string[];
}

/** First record: all that is needed to read the rest, and to run it again. */
export interface RunRecord extends Stamped {
  readonly type: 'run';
  readonly schemaVersion: HistoryVersion;
  readonly runId: string;
  readonly seed: string;
  /** Its name: nothing is decided by it. */
  readonly backend: string;
  /** What the backend declared: a model's is `predicted`, and evidence of real machines is asked of all others. */
  readonly basis: Basis;
  readonly scenario: Scenario;
  /** What a caller of the library brought along. Absent where all is ours. */
  readonly custom?: CustomNames;
  /**
   * Number of the claim whose procedure this was (research/claims): of the scenario only what says how the
   * cluster was made was there. Absent in every other run.
   */
  readonly claim?: number;
  /** Paste-ready. */
  readonly replay: string;
}

/** First record of a case of the two-kernel lab: a run without Kubernetes, which no scenario describes. */
export interface CaseRecord extends Stamped {
  readonly type: 'case';
  readonly schemaVersion: HistoryVersion;
  readonly seed: string;
  /** What it has of one: its clients, and what the database is set to. */
  readonly scenario: Pick<Scenario, 'load'> & { readonly database: DatabaseChoice };
  readonly case: string;
  /** What its machines are. */
  readonly host: string;
  /** Processors that each machine is held to. Absent where it is not. */
  readonly cpus?: number;
  readonly filesystem: string;
  /** Which run of this case on this host it is, from 1 on. */
  readonly repeat: number;
}

/** What the backend turned out to be, once it is up. */
export interface SetupRecord extends Stamped {
  readonly type: 'setup';
  /** Absent without Kubernetes. */
  readonly timers?: Timers;
  /** Kubernetes, database, kernel, images, this project: name → version or id. */
  readonly versions: Readonly<Record<string, string>>;
  /** Nodes that the database may run on; of a cluster the schedulable ones. */
  readonly nodes: readonly string[];
  /** The volume as it was when the database was new. Absent before version 3, and where a run has several. */
  readonly volume?: VolumeIdentity;
}

/** In their order. */
export const phaseNames = [
  ...(['prepare', 'steady', 'fault', 'watch', 'first-image', 'heal'] as const),
  ...(['converge', 'second-image', 'audit', 'report'] as const),
] as const;
export type PhaseName = (typeof phaseNames)[number];

/** The runner enters a phase (ends when the next begins). */
interface PhaseRecord extends Stamped {
  readonly type: 'phase';
  readonly phase: PhaseName;
}

/** What a procedure or a lab notes that no observer sees (research/): flat details. */
export interface NoteRecord extends Stamped {
  readonly type: 'note';
  readonly source: string;
  readonly name: string;
  readonly node?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Something the run did: a fault or remedy step, a heal, a clean-up. */
export interface ActionRecord extends Stamped {
  readonly type: 'action';
  readonly actor: 'fault' | 'remedy' | 'runner';
  /** e.g. `network-partition`, `force-delete`. */
  readonly name: string;
  /** `refused`: by the cluster's admission policy, so that it had no effect. */
  readonly step: 'begin' | 'done' | 'heal' | 'healed' | 'failed' | 'refused';
  readonly node?: string;
  readonly detail?: string;
}

/** One probe of a certificate: that a fault took effect, or was healed. */
export interface CertificateRecord extends Stamped {
  readonly type: 'certificate';
  readonly fault: string;
  readonly moment: 'before' | 'during' | 'after';
  /** e.g. `unsynced canary is gone`. */
  readonly claim: string;
  readonly holds: boolean;
  readonly evidence: string;
}

/** A copy of the volume was made. Since version 3. */
export interface CopyRecord extends Stamped {
  readonly type: 'copy';
  readonly image: ImageLabel;
  readonly made: CopyIdentity;
}

/** Everything read from one cold copy of the volume. */
export interface ImageRecord extends Stamped {
  readonly type: 'image';
  readonly image: ImageLabel;
  /** When the copy was taken, on the run's clock. */
  readonly takenAtMs: number;
  readonly evidence: ImageEvidence;
}

/** One ledger row of an audited image; in the segment `rows-<image>`, in primary key order. */
export interface RowRecord {
  readonly type: 'row';
  readonly image: ImageLabel;
  readonly row: LedgerRow;
}

/** Machine health: pressure and how late a timer fired. */
export interface MachineRecord extends Stamped {
  readonly type: 'machine';
  readonly timerLagMs: number;
  /** PSI avg10 of CPU `some`, percent; absent where the kernel does not tell. */
  readonly cpuPressure?: number;
  readonly ioPressure?: number;
  readonly memoryPressure?: number;
  /** Load average of one minute. */
  readonly load?: number;
}

/** Something threw that should not: the verdict can't be complete. */
interface ErrorRecord extends Stamped {
  readonly type: 'error';
  readonly where: string;
  readonly message: string;
}

/** What a segment holds, as its writer counted it. */
export interface SegmentCounts {
  readonly records: number;
  /** Those of them that are neither operations nor rows. */
  readonly small: number;
  /** Frames that hold records. */
  readonly frames: number;
  /** The chain of the last of these frames; absent where there are none. */
  readonly chain?: string;
}

export type SegmentList = Readonly<Record<string, SegmentCounts>>;

/** Of a file that is no segment. */
export interface FileSeal {
  readonly bytes: number;
  /** Absent before version 4. */
  readonly sha256?: string;
}

/** The run's last word: every segment beside its own, each with what its writer said at its end. */
export interface SegmentsRecord extends Stamped {
  readonly type: 'segments';
  readonly segments: SegmentList;
  /** Every other file beside them: the disk's log of writes, where it kept one. */
  readonly files: Readonly<Record<string, FileSeal>>;
}

export type HistoryRecord =
  | RunRecord
  | CaseRecord
  | SetupRecord
  | PhaseRecord
  | SessionRecord
  | InvokeRecord
  | OutcomeRecord
  | ReadRecord
  | SchemaChangeRecord
  | WorkloadRecord
  | ClientBeatRecord
  | ObservationRecord
  | NoteRecord
  | ActionRecord
  | CertificateRecord
  | CopyRecord
  | ImageRecord
  | RowRecord
  | MachineRecord
  | ErrorRecord
  | SegmentsRecord;

export type TimedRecord = Exclude<HistoryRecord, RowRecord>;
/** Every record but operations and rows: few enough to hold. */
export type SmallRecord = Exclude<TimedRecord, InvokeRecord | OutcomeRecord>;
