/**
 * Ledger against journal: what every operation of the run became in one image. Rows are streamed,
 * in primary key order, and only counters and a few samples are kept.
 */
import {
  clientSides,
  sessionContents,
  type OpContent,
  type LedgerRow,
  type Unread,
} from '../../history/index.ts';
import { outcomeCode, type Journal, type SessionLog } from './journal.ts';
import { Losses, type LossCounts, type OnLost } from './losses.ts';
import { OpSample } from './op-sample.ts';
import type { SeenCommit, SeenCommits } from './seen-commits.ts';

export interface Reconciliation extends LossCounts {
  /**
   * Why not every row of the ledger was read. When the damage of the image forbade it, what could not
   * be read counts as lost; when the audit itself failed, nothing does, and what is lost is not known.
   */
  readonly unread: Unread | undefined;
  /** Rows read. */
  readonly rows: number;
  /** Missing in the image before, which had to hold them, and present here. */
  readonly resurrected: OpSample;
  /** Rows nobody ever sent. */
  readonly phantoms: OpSample;
  /** Rows that nobody sent as far as is known, of a client whose journal has a gap or is missing. */
  readonly unjournaled: OpSample;
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
  /** Not acknowledged by then, but seen by somebody, and missing here. */
  readonly seenLost: readonly SeenCommit[];
  /** Operations of unknown outcome: no phantoms, and lost only where somebody had seen them. */
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
  /** What was seen of readers and in the images before. Default: nothing. */
  readonly seen?: SeenCommits;
  /** Clients whose journals have gaps. Default: none. */
  readonly withGaps?: ReadonlySet<string>;
}

/** What is known of a session while its rows come. */
interface SessionProgress {
  readonly log: SessionLog;
  /** How often the row of each seq was seen; saturates. */
  readonly seen: Uint8Array;
  readonly sent: (seq: number) => OpContent;
  /** Highest seq met so far; −1: none. */
  highest: number;
}
const manyTimes = 255;

/** Feed it every row of one image, then ask for the result. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #progress = new Map<SessionLog, SessionProgress>();
  readonly #movements = new Map<number, number>();
  readonly #phantoms = new OpSample();
  readonly #unjournaled = new OpSample();
  readonly #failedPresent = new OpSample();
  readonly #duplicates = new OpSample();
  readonly #torn = new OpSample();
  readonly #brokenLinks = new OpSample();
  readonly #outOfOrder = new OpSample();
  /** Rows that somebody saw and that no journal tells of. */
  readonly #seenUnsent = new Set<SeenCommit>();
  #rows = 0;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    for (const log of options.journal.sessions()) {
      const seen = new Uint8Array(log.length);
      const sent = sessionContents(options.seed, log.id);
      this.#progress.set(log, { log, seen, sent, highest: -1 });
    }
  }

  row(row: LedgerRow): void {
    this.#rows += 1;
    this.#move(row.fromAccount, -row.amount);
    this.#move(row.toAccount, row.amount);
    const log = this.#options.journal.session(row);
    const progress = log === undefined ? undefined : this.#progress.get(log);
    if (log === undefined || progress === undefined || !log.wasSent(row.seq)) {
      (this.#mayBeSent(row) ? this.#unjournaled : this.#phantoms).add(row);
      const seen = this.#options.seen?.get(row);
      if (seen !== undefined) this.#seenUnsent.add(seen);
      return;
    }
    const { seen, sent } = progress;
    if (!row.hashFits || !saysWhatWas(sent(row.seq), row)) this.#torn.add(row);
    if (log.outcome(row.seq) === outcomeCode.fail) this.#failedPresent.add(row);
    const times = seen[row.seq] ?? 0;
    if (times > 0) this.#duplicates.add(row);
    else this.#placed(row, progress);
    seen[row.seq] = Math.min(times + 1, manyTimes);
  }

  /** Once all rows were fed. `unread` says why there were not more of them. */
  result(unread?: Unread, onLost?: OnLost): Reconciliation {
    const losses = new Losses(unread, onLost);
    const resurrected = new OpSample();
    let unknownPresent = 0;
    let unknownAbsent = 0;
    for (const { log, seen } of this.#progress.values()) {
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
      unread,
      rows: this.#rows,
      ...losses.result(),
      resurrected,
      phantoms: this.#phantoms,
      unjournaled: this.#unjournaled,
      failedPresent: this.#failedPresent,
      duplicates: this.#duplicates,
      torn: this.#torn,
      brokenLinks: this.#brokenLinks,
      outOfOrder: this.#outOfOrder,
      seenLost: [...this.#seenLost()],
      unknownPresent,
      unknownAbsent,
      movements: this.#movements,
    };
  }

  /** What this image shows of operations whose outcome is unknown: they happened. */
  *unknownButPresent(by: string): Generator<SeenCommit> {
    const atMs = this.#options.takenAtMs;
    for (const { log, seen } of this.#progress.values()) {
      for (let seq = 0; seq < log.length; seq++) {
        if (log.outcome(seq) !== outcomeCode.info || (seen[seq] ?? 0) === 0) continue;
        yield { ...log.id, seq, atMs, by };
      }
    }
  }

  /** Those that were acknowledged by then are counted as such; a refused one has no row to lose. */
  *#seenLost(): Generator<SeenCommit> {
    const { seen = [], takenAtMs, journal } = this.#options;
    for (const each of seen) {
      if (each.atMs > takenAtMs || this.#seenUnsent.has(each)) continue;
      const log = journal.session(each);
      if (log?.outcome(each.seq) === outcomeCode.fail) continue;
      if (log !== undefined && log.ackedAtMs(each.seq) <= takenAtMs) continue;
      if (log === undefined || !this.holds(log, each.seq)) yield each;
    }
  }

  /** This image has the operation. */
  holds(log: SessionLog, seq: number): boolean {
    return (this.#progress.get(log)?.seen[seq] ?? 0) > 0;
  }

  /** This image had to have the operation and has not. */
  misses(log: SessionLog, seq: number): boolean {
    return log.ackedAtMs(seq) <= this.#options.takenAtMs && !this.holds(log, seq);
  }

  /** The row may be one that a client sent and whose record is missing. */
  #mayBeSent({ client, hashFits }: LedgerRow): boolean {
    const { journal, withGaps } = this.#options;
    const isClient = clientSides.some((side) => side === client);
    return isClient && hashFits && (withGaps?.has(client) === true || !journal.tellsOf(client));
  }

  /** Where a row that is met for the first time stands among its session's rows. */
  #placed(row: LedgerRow, progress: SessionProgress): void {
    if (row.seq < progress.highest) this.#outOfOrder.add(row);
    else progress.highest = row.seq;
    if (row.linkFits) return;
    const { log, seen } = progress;
    // Behind a lost row nothing can link: that is its loss once more, not a finding of its own.
    const previous = log.lastAckedBefore(row.seq);
    if (previous === undefined || (seen[previous] ?? 0) > 0) this.#brokenLinks.add(row);
  }

  #move(account: number, amount: number): void {
    if (amount === 0) return;
    this.#movements.set(account, (this.#movements.get(account) ?? 0) + amount);
  }
}

const saysWhatWas = (sent: OpContent, row: LedgerRow): boolean =>
  sent.kind === row.kind &&
  sent.amount === row.amount &&
  sent.fromAccount === row.fromAccount &&
  sent.toAccount === row.toAccount;
