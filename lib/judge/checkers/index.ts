/** All checkers, and the way from a run's history to their findings. */
import type { JudgedDatabase } from '../database.ts';
import type { DatabaseChoice } from '../../scenario/index.ts';
import type { Finding } from '../verdict/verdict.ts';
import {
  type CaseRecord,
  type HistoryRecord,
  type ImageRecord,
  type RunRecord,
  type ImageLabel,
  type OpId,
  type SchemaChangeRecord,
  tellsOf,
  type LedgerRow,
} from '../../history/index.ts';
import {
  balances,
  documentCheckers,
  ledgerLost,
  type LostCommit,
  rowCheckers,
  ledgerUnreadable,
  replaced,
} from './ledger.ts';
import { type AuditedImage, type Checker, incomplete } from './checker.ts';
import {
  completeness,
  fileSystem,
  indexes,
  login,
  unreadBecause,
  schemaChange,
  errorLog,
  serverStarts,
  sqlFailures,
} from './server.ts';
import { contradictionsIn, foreignRecords } from './contradictions.ts';
import { Journal, type JournaledOp, type EpochBounds, type SessionLog } from './journal.ts';
import {
  type LostOp,
  Reconciler,
  type Reconciliation,
  reconcileDocuments,
  SeenCommits,
} from './reconcile.ts';

export const allCheckers = (database: JudgedDatabase): readonly Checker[] => [
  ledgerLost,
  ledgerUnreadable(database),
  ...rowCheckers,
  ...documentCheckers,
  schemaChange,
  balances,
  indexes,
  serverStarts(database),
  errorLog(database),
  login(database),
  sqlFailures(database),
  ...database.own.checks,
  fileSystem,
  replaced,
  completeness(database),
];

/** What is needed of the first record. */
export type AuditedRun = Pick<RunRecord | CaseRecord, 'type' | 'schemaVersion' | 'seed'> & {
  readonly scenario: { readonly database: DatabaseChoice };
};

/** What is needed of a history (lib/history/reader.ts). */
export interface AuditedHistory {
  smallRecords(): Iterable<
    AuditedRun | Exclude<HistoryRecord, { type: 'invoke' | 'outcome' | 'row' | 'run' | 'case' }>
  >;
  visitOps(onOp: (op: JournaledOp) => void): void;
  rows(image: ImageLabel): Iterable<LedgerRow>;
}

export interface Judgement {
  readonly findings: readonly Finding[];
  readonly reconciliations: ReadonlyMap<ImageLabel, Reconciliation>;
}

export interface JudgeOptions {
  /** Clients whose journals have gaps. Default: none. */
  readonly withGaps?: ReadonlySet<string>;
  readonly database: JudgedDatabase;
  /** Default: every checker. */
  readonly all?: readonly Checker[];
  /** Told of each commit that is gone from an image which could be read to its end. */
  readonly onLost?: ((commit: LostCommit) => void) | undefined;
  /** What clients read of the ledger; what the images show is added. Default: nothing. */
  readonly seen?: SeenCommits;
  /** Clients whose acknowledgements prove nothing: they may have been given or not. Default: none. */
  readonly refuted?: ReadonlySet<string>;
  /** Images that are not of this run's volume and moment: they are not judged. Default: none. */
  readonly without?: ReadonlySet<ImageLabel>;
}

/** Reads the history twice: the operations, then the rows of each image. */
export function judgeImages(
  history: AuditedHistory,
  moments: EpochBounds,
  options: JudgeOptions,
): Judgement {
  const { database, all = allCheckers(database), refuted, withGaps = [] } = options;
  const { seed, records, asked } = planIn(history, options);
  const journal = new Journal(moments);
  history.visitOps((op) =>
    journal.add(refuted?.has(op.client) === true ? { ...op, outcome: 'info' } : op),
  );
  const syncsEachCommit = database.durability.keepsAll(asked.settings);
  const images: AuditedImage[] = [];
  const reconciliations = new Map<ImageLabel, Reconciliation>();
  for (const each of reconciled(history, { ...options, journal, seed, records })) {
    const { image, takenAtMs, evidence, reconciliation, holds, incomplete } = each;
    reconciliations.set(image, reconciliation);
    const about = { journal, withGaps: new Set([...withGaps, ...incomplete]) };
    const { documents: found } = evidence;
    images.push({
      ...{ image, evidence, reconciliation, takenAtMs, ...asked },
      documents: found && reconcileDocuments(found, { ...about, takenAtMs, holds }),
      ledger: holds && { ...about, holds, ...(!syncsEachCommit && { syncedUntilMs: takenAtMs }) },
      before: images.at(-1),
    });
  }
  const foreign = foreignRecords([...reconciliations.values()], journal);
  const judged = images.map((each) => {
    const disputes = (op: OpId): boolean => database.own.logHas(op, each);
    const image = { ...each, all: images, disputes };
    return { ...image, refuted: [...foreign, ...contradictionsIn(image, database)] };
  });
  return { findings: runChecks(judged, all), reconciliations };
}

/** What the run was to do, and its images in order of time. */
function planIn(history: AuditedHistory, { database, without }: JudgeOptions) {
  let seed = '';
  let asked = { wholeWorkload: false, settings: database.leastAsked };
  const records: ImageRecord[] = [];
  const schemaChanges: SchemaChangeRecord[] = [];
  for (const record of history.smallRecords()) {
    if (record.type === 'run' || record.type === 'case') {
      ({ seed } = record);
      const { wholeWorkload } = tellsOf(record);
      asked = { wholeWorkload, settings: record.scenario.database };
    }
    if (record.type === 'image' && without?.has(record.image) !== true) records.push(record);
    if (record.type === 'schema-change') schemaChanges.push(record);
  }
  records.sort((a, b) => a.takenAtMs - b.takenAtMs);
  return { seed, records, asked: { ...asked, schemaChanges } };
}

interface ToReconcile extends Pick<JudgeOptions, 'database' | 'onLost' | 'seen'> {
  readonly journal: Journal;
  readonly seed: string;
  readonly records: readonly ImageRecord[];
}

/** What an image shows is there for the next one. */
function* reconciled(history: AuditedHistory, options: ToReconcile) {
  const { database, onLost, seen = new SeenCommits(), journal, seed, records } = options;
  let before: Reconciler | undefined;
  for (const { image, takenAtMs, evidence } of records) {
    const reconciler = new Reconciler({ journal, takenAtMs, seed, seen, before });
    for (const row of history.rows(image)) reconciler.row(row);
    const unread = unreadBecause(evidence, database.log, reconciler.rows);
    const isTold = onLost !== undefined && unread === undefined;
    const tell = isTold ? (lost: LostOp) => onLost({ image, ...lost }) : undefined;
    const reconciliation = reconciler.result(unread, tell);
    for (const each of reconciler.unknownButPresent(`the ${image} image`)) seen.add(each);
    // Nothing can be said to be back, or gone since, against an image that could not be read.
    before = unread === undefined ? reconciler : undefined;
    const holds = before && ((log: SessionLog, seq: number) => reconciler.holds(log, seq));
    const { incomplete } = reconciler;
    yield { image, takenAtMs, evidence, reconciliation, holds, incomplete };
  }
}

/** A checker that throws is a gap in the evidence, never a pass. Damage that rests on what is refuted is none. */
export const runChecks = (images: readonly AuditedImage[], all: readonly Checker[]): Finding[] =>
  images.flatMap((image) =>
    all.flatMap(({ name, byTool = false, check }) => {
      try {
        const isProof = byTool || (image.refuted ?? []).length === 0;
        return check(image).filter(({ level }) => isProof || level !== 'damage');
      } catch (error) {
        const summary = `${image.image} image: the checker ${name} failed`;
        return [incomplete('CHECKER_FAILED', summary, [String(error)])];
      }
    }),
  );
