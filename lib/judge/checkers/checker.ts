/** The checker port: a pure function from one run's evidence to findings. */
import type { ImageEvidence, OpId, SchemaChangeRecord } from '../../history/index.ts';
import type { Journal, SessionLog } from './journal.ts';
import type { DocumentReconciliation, Reconciliation } from './reconcile.ts';
import type { Finding, Safety } from '../verdict/verdict.ts';
import type { DatabaseChoice } from '../../scenario/index.ts';

/** One audited copy of the volume and what the ledger on it became. */
export interface AuditedImage {
  /** What it is called in findings: a label of the run's images, or a crash state's name. */
  readonly image: string;
  readonly evidence: ImageEvidence;
  readonly reconciliation: Reconciliation;
  /** Absent where the audit did not read them. */
  readonly documents?: DocumentReconciliation | undefined;
  /** For checks that hold another record of the commits against the ledger. Absent where not all of it was read. */
  readonly ledger?: LedgerLookup | undefined;
  /** When the copy was begun, ms on the run's clock. */
  readonly takenAtMs: number;
  /** What the run's journal has of the change of the schema. Default: nobody asked for one. */
  readonly schemaChanges?: readonly SchemaChangeRecord[];
  /** The history tells of the whole workload, and so must the audit. Default false. */
  readonly wholeWorkload?: boolean;
  /** What the server was set to. Default: what asks least of it. */
  readonly settings?: DatabaseChoice;
  /** The audited image taken before this one. */
  readonly before?: AuditedImage | undefined;
  /** All audited images of the run. Default: this one. */
  readonly all?: readonly AuditedImage[];
  /** The database's own log has this row as the table has it: then the row is no damage. Default: it has none. */
  readonly disputes?: (op: OpId) => boolean;
  /** Why what rests on records and readings is no proof here. Default: nothing refutes them. */
  readonly refuted?: readonly string[];
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
  readonly withGaps?: ReadonlySet<string> | undefined;
}

/** A check of an audited copy of the volume, pure: the same evidence gives the same findings. */
export interface Checker {
  readonly name: string;
  /** A tool proved its damage. Default: it rests on records and readings, which others may refute. */
  readonly byTool?: boolean;
  /** Asked for each image. Must not throw; one that does makes the verdict incomplete. */
  readonly check: (image: AuditedImage) => readonly Finding[];
}

// Makes findings; one form for all checkers.

interface Damage {
  readonly code: string;
  readonly image: string;
  readonly safety: Extract<Safety, 'lost' | 'corrupt'>;
  /** Would probes, events, error logs, fsck or a check of the tables have told a normal operator? */
  readonly loud: boolean;
  /** What is wrong, with numbers; the image's name is put before it. */
  readonly summary: string;
  readonly evidence: readonly string[];
}

/** A structure is broken, and a normal operator would have been told so, or not. */
export const corruptAndTold = { safety: 'corrupt', loud: true } as const;
export const corruptInSilence = { safety: 'corrupt', loud: false } as const;

/** Pieces of evidence kept in one finding, and the length of each. */
const maxEvidence = 25;
const maxLength = 1000;

const shortened = (evidence: readonly string[]): string[] =>
  evidence
    .slice(0, maxEvidence)
    .map((each) => (each.length > maxLength ? `${each.slice(0, maxLength)} …` : each));

export function damage({ code, image, safety, loud, summary, evidence }: Damage): Finding {
  const more = evidence.length - maxEvidence;
  const kept = [...shortened(evidence), ...(more > 0 ? [`… and ${more} more`] : [])];
  const about = `${image} image: ${summary}`;
  return { code, level: 'damage', safety, loud, summary: about, evidence: kept };
}

const mild =
  (level: 'incomplete' | 'note', loud: boolean) =>
  (code: string, summary: string, evidence: readonly string[]): Finding => ({
    ...{ code, level, safety: 'safe', loud, summary, evidence: shortened(evidence) },
  });

/** Something could not be read or judged: without it nobody may say `safe`. */
export const incomplete = mild('incomplete', false);

/** Worth reading, no harm by itself. */
export const note = mild('note', true);

/** What an image shows of one kind: one finding for all pieces of evidence, none where there are none. */
type OfKind = (
  image: string,
  code: string,
  summary: string,
  evidence: readonly string[],
) => readonly Finding[];

const ofDamage =
  (harm: Pick<Damage, 'safety' | 'loud'>): OfKind =>
  (image, code, summary, evidence) =>
    evidence.length === 0 ? [] : [damage({ code, image, ...harm, summary, evidence })];

const ofMild =
  (finding: typeof note): OfKind =>
  (image, code, summary, evidence) =>
    evidence.length === 0 ? [] : [finding(code, `${image} image: ${summary}`, evidence)];

export const loudDamage = ofDamage(corruptAndTold);
export const silentDamage = ofDamage(corruptInSilence);
export const lacking = ofMild(incomplete);
export const noted = ofMild(note);

/** The one piece of evidence, where there is such a thing. */
export const when = (holds: boolean, evidence = ''): readonly string[] => (holds ? [evidence] : []);
