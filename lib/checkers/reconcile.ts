/**
 * Ledger against journal: what every operation of the run became in one image. Rows are streamed,
 * in primary key order, and only counters and a few samples are kept.
 */
import type { LedgerRow } from './evidence.ts';
import { Contents } from './contents.ts';
import { epochs, outcomeCode, type Epoch, type Journal, type SessionLog } from './journal.ts';
import { OpSample } from './op-sample.ts';
import type { Unread } from './readability.ts';
import type { OpId } from '../workload/sql.ts';

export type { Epoch } from './journal.ts';

export interface EpochCount {
  acked: number;
  lost: number;
}

/** Lost operations of one session that follow each other: both ends are lost, seqs inclusive. */
export interface LostRange extends Omit<OpId, 'seq'> {
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Acknowledged operations in it; others between them failed or have no known outcome. */
  readonly count: number;
  readonly epoch: Epoch;
  /** Acknowledgements of the first and the last one, ms on the run's clock. */
  readonly firstAckMs: number;
  readonly lastAckMs: number;
}

export interface Reconciliation {
  /**
   * Every row of the ledger was read. When the damage of the image forbade it, what could not be
   * read counts as lost; when the audit itself failed, nothing does.
   */
  readonly complete: boolean;
  /** Rows read. */
  readonly rows: number;
  /** Acknowledged operations that the image must hold: those acked before it was taken. */
  readonly acked: number;
  readonly present: number;
  readonly lost: number;
  readonly byEpoch: Readonly<Record<Epoch, EpochCount>>;
  /** Exactly which were lost, in order of their first acknowledgement; at most `rangeLimit`. */
  readonly lostRanges: readonly LostRange[];
  /** Ranges beyond the limit. */
  readonly moreRanges: number;
  /** Each session that lost something lost its last acknowledged operations and no others. */
  readonly lostAreTails: boolean;
  /** Lost here and present in the image before: what happened in between took them. */
  readonly lostSince: number;
  /** Missing in the image before, which had to hold them, and present here. */
  readonly resurrected: OpSample;
  /** Rows nobody ever sent. */
  readonly phantoms: OpSample;
  /** Rows of operations that failed for certain. */
  readonly failedPresent: OpSample;
  /** Operations present more than once. */
  readonly duplicates: OpSample;
  /** Rows whose hash does not fit their content, or whose content is not what was sent. */
  readonly torn: OpSample;
  /** Rows that do not link to the row before them in their session although that one is there. */
  readonly brokenLinks: OpSample;
  /** Rows that stand before a row of their session that was sent earlier. */
  readonly outOfOrder: OpSample;
  /** Operations of unknown outcome: never lost, never phantom. */
  readonly unknownPresent: number;
  readonly unknownAbsent: number;
  /** What the rows read moved to (+) and from (−) each account. */
  readonly movements: ReadonlyMap<number, number>;
}

export interface ReconcilerOptions {
  readonly journal: Journal;
  /** The run's seed: gives what was sent. */
  readonly seed: string;
  /** When the copy was begun, ms on the run's clock: what was acked by then must be in it. */
  readonly takenAtMs: number;
  /** The image taken before this one. Default: there is none. */
  readonly before?: Reconciler;
}

const rangeLimit = 10_000;

/** How often a row was seen; saturates. */
type Seen = Uint8Array;
const manyTimes = 255;

/** Feed it every row of one image, then ask for the result. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #contents: Contents;
  readonly #seen = new Map<SessionLog, Seen>();
  /** Highest seq met so far, by session. */
  readonly #highest = new Map<SessionLog, number>();
  readonly #movements = new Map<number, number>();
  readonly #phantoms = new OpSample();
  readonly #failedPresent = new OpSample();
  readonly #duplicates = new OpSample();
  readonly #torn = new OpSample();
  readonly #brokenLinks = new OpSample();
  readonly #outOfOrder = new OpSample();
  #rows = 0;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#contents = new Contents(options.seed);
    for (const log of options.journal.sessions()) this.#seen.set(log, new Uint8Array(log.length));
  }

  row(row: LedgerRow): void {
    this.#rows += 1;
    this.#move(row.fromAccount, -row.amount);
    this.#move(row.toAccount, row.amount);
    const log = this.#options.journal.session(row);
    const seen = log === undefined ? undefined : this.#seen.get(log);
    if (log === undefined || seen === undefined || !log.wasSent(row.seq)) {
      this.#phantoms.add(row);
      return;
    }
    if (!row.hashFits || !this.#contents.wasSent(row)) this.#torn.add(row);
    if (log.outcome(row.seq) === outcomeCode.fail) this.#failedPresent.add(row);
    const times = seen[row.seq] ?? 0;
    if (times > 0) this.#duplicates.add(row);
    else this.#placed(row, log, seen);
    seen[row.seq] = Math.min(times + 1, manyTimes);
  }

  /** Once all rows were fed. `unread` says why there were not more of them. */
  result(unread?: Unread): Reconciliation {
    const losses = new Losses(unread);
    const resurrected = new OpSample();
    let unknownPresent = 0;
    let unknownAbsent = 0;
    for (const [log, seen] of this.#seen) {
      for (let seq = 0; seq < log.length; seq++) {
        const present = (seen[seq] ?? 0) > 0;
        const outcome = log.outcome(seq);
        if (outcome === outcomeCode.info) {
          if (present) unknownPresent += 1;
          else unknownAbsent += 1;
        }
        if (outcome !== outcomeCode.ok || log.ackedAtMs(seq) > this.#options.takenAtMs) continue;
        losses.count(log, seq, present, this.#options.before?.holds(log, seq));
        if (present && this.#options.before?.misses(log, seq) === true) {
          resurrected.add({ ...log.id, seq });
        }
      }
      losses.endSession();
    }
    return {
      complete: unread === undefined,
      rows: this.#rows,
      ...losses.result(),
      resurrected,
      phantoms: this.#phantoms,
      failedPresent: this.#failedPresent,
      duplicates: this.#duplicates,
      torn: this.#torn,
      brokenLinks: this.#brokenLinks,
      outOfOrder: this.#outOfOrder,
      unknownPresent,
      unknownAbsent,
      movements: this.#movements,
    };
  }

  /** This image has the operation. */
  holds(log: SessionLog, seq: number): boolean {
    return (this.#seen.get(log)?.[seq] ?? 0) > 0;
  }

  /** This image had to have the operation and has not. */
  misses(log: SessionLog, seq: number): boolean {
    return log.ackedAtMs(seq) <= this.#options.takenAtMs && !this.holds(log, seq);
  }

  /** Where a row that is met for the first time stands among its session's rows. */
  #placed(row: LedgerRow, log: SessionLog, seen: Seen): void {
    const highest = this.#highest.get(log) ?? -1;
    if (row.seq < highest) this.#outOfOrder.add(row);
    else this.#highest.set(log, row.seq);
    if (row.linkFits) return;
    // Behind a lost row nothing can link: that is its loss once more, not a finding of its own.
    const previous = log.lastAckedBefore(row.seq);
    if (previous === undefined || (seen[previous] ?? 0) > 0) this.#brokenLinks.add(row);
  }

  #move(account: number, amount: number): void {
    if (amount === 0) return;
    this.#movements.set(account, (this.#movements.get(account) ?? 0) + amount);
  }
}

type LossResult = Pick<
  Reconciliation,
  | 'acked'
  | 'present'
  | 'lost'
  | 'byEpoch'
  | 'lostRanges'
  | 'moreRanges'
  | 'lostAreTails'
  | 'lostSince'
>;

/** Counts what an image had to hold; fed session by session, in order of seq. */
class Losses {
  readonly #byEpoch: Record<Epoch, EpochCount>;
  readonly #ranges: LostRange[] = [];
  #open: { -readonly [K in keyof LostRange]: LostRange[K] } | undefined;
  readonly #unread: Unread | undefined;
  #acked = 0;
  #present = 0;
  #lost = 0;
  #lostSince = 0;
  #lostAreTails = true;

  constructor(unread: Unread | undefined) {
    this.#unread = unread;
    const counts = epochs.map((epoch) => [epoch, { acked: 0, lost: 0 }] as const);
    this.#byEpoch = Object.fromEntries(counts) as Record<Epoch, EpochCount>;
  }

  count(log: SessionLog, seq: number, present: boolean, heldBefore: boolean | undefined): void {
    const epoch = log.epoch(seq);
    this.#acked += 1;
    this.#byEpoch[epoch].acked += 1;
    if (present) this.#present += 1;
    if (present || this.#unread === 'gap') {
      if (this.#open !== undefined) this.#lostAreTails = false;
      this.#close();
      return;
    }
    this.#lost += 1;
    this.#byEpoch[epoch].lost += 1;
    if (heldBefore === true) this.#lostSince += 1;
    this.#extend(log, seq, epoch);
  }

  endSession(): void {
    this.#close();
  }

  result(): LossResult {
    const ranges = this.#ranges.toSorted((a, b) => a.firstAckMs - b.firstAckMs);
    return {
      acked: this.#acked,
      present: this.#present,
      lost: this.#lost,
      byEpoch: this.#byEpoch,
      lostRanges: ranges.slice(0, rangeLimit),
      moreRanges: Math.max(0, ranges.length - rangeLimit),
      lostAreTails: this.#lostAreTails,
      lostSince: this.#lostSince,
    };
  }

  #extend(log: SessionLog, seq: number, epoch: Epoch): void {
    const ackMs = log.ackedAtMs(seq);
    if (this.#open !== undefined && this.#open.epoch === epoch) {
      this.#open.toSeq = seq;
      this.#open.count += 1;
      this.#open.lastAckMs = ackMs;
      return;
    }
    this.#close();
    const ends = { fromSeq: seq, toSeq: seq, count: 1, firstAckMs: ackMs, lastAckMs: ackMs };
    this.#open = { ...log.id, ...ends, epoch };
  }

  #close(): void {
    if (this.#open !== undefined) this.#ranges.push(this.#open);
    this.#open = undefined;
  }
}
