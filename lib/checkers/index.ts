/** All checkers, and the way from a run's history to their findings. */
import type { Finding } from '../experiment/verdict.ts';
import type { HistoryRecord, ImageLabel, ImageRecord } from '../history/events.ts';
import { balances } from './balances.ts';
import type { AuditedImage, Checker } from './checker.ts';
import { completeness } from './completeness.ts';
import type { LedgerRow } from './evidence.ts';
import { fileSystem } from './file-system.ts';
import { incomplete } from './findings.ts';
import { indexes } from './indexes.ts';
import { innochecksum } from './innochecksum.ts';
import { Journal, type JournaledOp, type Moments } from './journal.ts';
import { ledgerLost } from './ledger-lost.ts';
import { rowCheckers } from './ledger-rows.ts';
import { naming, type LostCommit } from './lost-commits.ts';
import { ledgerUnreadable } from './ledger-unreadable.ts';
import { Reconciler, type Reconciliation } from './reconcile.ts';
import { unreadBecause } from './readability.ts';
import { replaced } from './replaced.ts';
import { SeenCommits } from './seen-commits.ts';
import { errorLog, serverStarts } from './server.ts';
import { sqlFailures } from './sql-failures.ts';
import { tableChecks } from './table-checks.ts';

export const checkers: readonly Checker[] = [
  ledgerLost,
  ledgerUnreadable,
  ...rowCheckers,
  balances,
  indexes,
  serverStarts,
  errorLog,
  sqlFailures,
  tableChecks,
  innochecksum,
  fileSystem,
  replaced,
  completeness,
];

/** What is needed of a history (lib/history/reader.ts). */
export interface AuditedHistory {
  smallRecords(): Iterable<Exclude<HistoryRecord, { type: 'invoke' | 'outcome' | 'row' }>>;
  visitOps(onOp: (op: JournaledOp) => void): void;
  rows(image: ImageLabel): Iterable<LedgerRow>;
}

export interface Judgement {
  readonly findings: readonly Finding[];
  readonly reconciliations: ReadonlyMap<ImageLabel, Reconciliation>;
}

export interface JudgeOptions {
  /** Default: every checker. */
  readonly all?: readonly Checker[];
  /** Told of each commit that is gone from an image which could be read to its end. */
  readonly onLost?: (commit: LostCommit) => void;
  /** What clients read of the ledger; what the images show is added. Default: nothing. */
  readonly seen?: SeenCommits;
  /** Clients whose journals have gaps. Default: none. */
  readonly withGaps?: ReadonlySet<string>;
}

/** Reads the history twice: the operations, then the rows of each image. */
export function judgeImages(
  history: AuditedHistory,
  moments: Moments,
  { all = checkers, onLost, seen = new SeenCommits(), withGaps }: JudgeOptions = {},
): Judgement {
  let seed = '';
  const records: ImageRecord[] = [];
  for (const record of history.smallRecords()) {
    if (record.type === 'run') seed = record.seed;
    if (record.type === 'image') records.push(record);
  }
  const journal = new Journal(moments);
  history.visitOps((op) => journal.add(op));

  const images: AuditedImage[] = [];
  const reconciliations = new Map<ImageLabel, Reconciliation>();
  let before: Reconciler | undefined;
  for (const { image, takenAtMs, evidence } of records.toSorted(byTime)) {
    const reconciler = new Reconciler({
      journal,
      seed,
      takenAtMs,
      seen,
      ...(before === undefined ? {} : { before }),
      ...(withGaps === undefined ? {} : { withGaps }),
    });
    let rows = 0;
    for (const row of history.rows(image)) {
      reconciler.row(row);
      rows += 1;
    }
    const previous = images.at(-1);
    const unread = unreadBecause(evidence, rows);
    const isTold = onLost !== undefined && unread === undefined;
    const tell = isTold ? naming(image, seed, onLost) : undefined;
    const reconciliation = reconciler.result(unread, tell);
    reconciliations.set(image, reconciliation);
    for (const each of reconciler.unknownButPresent(`the ${image} image`)) seen.add(each);
    images.push({
      image,
      evidence,
      reconciliation,
      ...(previous === undefined ? {} : { before: previous }),
    });
    // Nothing can be said to be back, or gone since, against an image that could not be read.
    before = reconciliation.complete ? reconciler : undefined;
  }
  return { findings: runChecks(images, all), reconciliations };
}

/** A checker that throws is a gap in the evidence, never a pass. */
export function runChecks(
  images: readonly AuditedImage[],
  all: readonly Checker[] = checkers,
): Finding[] {
  return images.flatMap((image) =>
    all.flatMap(({ name, check }) => {
      try {
        return check(image);
      } catch (error) {
        const summary = `${image.image} image: the checker ${name} failed`;
        return [incomplete('CHECKER_FAILED', summary, [String(error)])];
      }
    }),
  );
}

const byTime = (a: ImageRecord, b: ImageRecord): number => a.takenAtMs - b.takenAtMs;
