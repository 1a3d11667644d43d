/** Reconciles what a copy holds with what clients were acknowledged: commits and documents. */
import {
  type DocumentsFound,
  type LedgerRow,
  type OpContent,
  type OpId,
  SessionMap,
  type Unread,
  clientSides,
  deletionOf,
  documentsBelow,
  firstDocuments,
  putsDocument,
  sessionContents,
  sessionKey,
} from '../../history/index.ts';
import { type Epoch, type Journal, type SessionLog, epochs, outcomeCode } from './journal.ts';

/** Operations kept by name; beyond them only the count grows. */
const sampleLimit = 100;

export class OpSample {
  readonly ops: OpId[] = [];
  count = 0;

  add({ client, connection, session, seq }: OpId): void {
    this.count += 1;
    if (this.ops.length < sampleLimit) this.ops.push({ client, connection, session, seq });
  }

  /** Beyond the sample they are taken for what all of it is. */
  without(fits: (op: OpId) => boolean): OpSample {
    const rest = new OpSample();
    for (const op of this.ops) if (!fits(op)) rest.add(op);
    if (rest.count > 0) rest.count += this.count - this.ops.length;
    return rest;
  }
}

/** `outside/3/0/1207`: client, connection, session, seq. */
export const opName = (op: OpId): string => `${sessionKey(op)}/${op.seq}`;

// What an image had to hold and does not: counted by epoch, and named in ranges.

type EpochCounts = Record<Epoch, { acked: number; lost: number }>;

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

export interface LossCounts {
  /** Acknowledged operations that the image must hold: those acked before it was taken. */
  readonly acked: number;
  readonly present: number;
  readonly lost: number;
  readonly byEpoch: Readonly<EpochCounts>;
  /** Exactly which were lost, in order of their first acknowledgement; at most `rangeLimit`. */
  readonly lostRanges: readonly LostRange[];
  /** Each session that lost something lost its last acknowledged operations and no others. */
  readonly lostAreTails: boolean;
  /** Lost here and present in the image before: what happened in between took them. */
  readonly lostSince: number;
}

const rangeLimit = 10_000;

/** One that was acknowledged by then and is not in the image: what it was, who acknowledged it, and when. */
export interface LostOp extends OpId, OpContent {
  /** ms on the run's clock. */
  readonly ackedAtMs: number;
  /** Node of the server that acknowledged it; absent where the session's record is missing. */
  readonly node?: string;
  readonly epoch: Epoch;
}

/** Called session by session, in order of seq. */
type OnLost = (lost: LostOp) => void;

/** Counts what an image had to hold; fed session by session, in order of seq. */
class Losses {
  readonly #counts = {
    ...{ acked: 0, present: 0, lost: 0, lostSince: 0, lostAreTails: true },
    byEpoch: Object.fromEntries(
      epochs.map((epoch) => [epoch, { acked: 0, lost: 0 }]),
    ) as EpochCounts,
  };
  readonly #ranges: LostRange[] = [];
  #open: { -readonly [K in keyof LostRange]: LostRange[K] } | undefined;
  readonly #unread: Unread | undefined;
  readonly #onLost: OnLost | undefined;

  /** `onLost` gets each, however many ranges there are. */
  constructor(unread: Unread | undefined, onLost?: OnLost) {
    this.#unread = unread;
    this.#onLost = onLost;
  }

  count(
    { log, sent }: Pick<SessionProgress, 'log' | 'sent'>,
    seq: number,
    isPresent: boolean,
    heldBefore: boolean,
  ): void {
    const epoch = log.epoch(seq);
    const counts = this.#counts;
    counts.acked += 1;
    counts.byEpoch[epoch].acked += 1;
    if (isPresent) counts.present += 1;
    if (isPresent || this.#unread === 'gap') {
      if (this.#open !== undefined) counts.lostAreTails = false;
      this.endSession();
      return;
    }
    counts.lost += 1;
    counts.byEpoch[epoch].lost += 1;
    if (heldBefore) counts.lostSince += 1;
    const ackedAtMs = log.ackedAtMs(seq);
    const by = log.node === undefined ? {} : { node: log.node };
    this.#onLost?.({ ...log.id, seq, ...sent(seq), ackedAtMs, ...by, epoch });
    this.#extend(log, seq, epoch);
  }

  result(): LossCounts {
    const ranges = this.#ranges.toSorted((a, b) => a.firstAckMs - b.firstAckMs);
    return { ...this.#counts, lostRanges: ranges.slice(0, rangeLimit) };
  }

  #extend(log: SessionLog, seq: number, epoch: Epoch): void {
    const ackMs = log.ackedAtMs(seq);
    if (this.#open?.epoch !== epoch) {
      this.endSession();
      this.#open = {
        ...{ ...log.id, fromSeq: seq, toSeq: seq, count: 0, epoch },
        ...{ firstAckMs: ackMs, lastAckMs: ackMs },
      };
    }
    this.#open.toSeq = seq;
    this.#open.count += 1;
    this.#open.lastAckMs = ackMs;
  }

  endSession(): void {
    if (this.#open !== undefined) this.#ranges.push(this.#open);
    this.#open = undefined;
  }
}

// Rows that somebody saw: on a copy of the volume, or as a server's newest row. They were committed, whatever
// their client was told, so every later copy has to hold them.

export interface SeenCommit extends OpId {
  /** A copy that was begun later must hold it, ms on the run's clock. */
  readonly atMs: number;
  /** Who saw it, e.g. `the first image`. */
  readonly by: string;
}

export class SeenCommits implements Iterable<SeenCommit> {
  readonly #bySession = new SessionMap<Map<number, SeenCommit>>();

  /** Keeps the first one of several who saw it. */
  add(seen: SeenCommit): void {
    const ofSession = this.#bySession.getOrMake(seen, () => new Map<number, SeenCommit>());
    const before = ofSession.get(seen.seq);
    if (before === undefined || seen.atMs < before.atMs) ofSession.set(seen.seq, seen);
  }

  get(op: OpId): SeenCommit | undefined {
    return this.#bySession.get(op)?.get(op.seq);
  }

  *[Symbol.iterator](): Iterator<SeenCommit> {
    for (const ofSession of this.#bySession.values()) yield* ofSession.values();
  }
}

// Documents against the ledger of the same image, whose rows were written in the same transactions, and
// against the journal: what each put and each deletion became.

export interface DocumentReconciliation {
  /** Documents found. */
  readonly count: number;
  /** Found, with other bytes than were written. */
  readonly torn: DocumentsFound['torn'];
  /** The row that came with it is there and it is not. */
  readonly missing: OpSample;
  /** There, and so is the row that came with its deletion. */
  readonly half: OpSample;
  /** There although its deletion was acknowledged, whose row is gone too. */
  readonly undeleted: OpSample;
  /** There, and nobody sent it, or its own row is gone. */
  readonly phantoms: OpSample;
}

export interface DocumentOptions extends Pick<ReconcilerOptions, 'journal' | 'takenAtMs'> {
  /** Clients whose journals have gaps. Default: none. */
  readonly withGaps?: ReadonlySet<string>;
  /** The image's ledger has the row of an operation; undefined where it could not be read. */
  readonly holds: ((log: SessionLog, seq: number) => boolean) | undefined;
}

export function reconcileDocuments(
  { found, torn }: DocumentsFound,
  options: DocumentOptions,
): DocumentReconciliation {
  const result = {
    count: Object.values(found).reduce((sum, seqs) => sum + seqs.length, 0),
    torn,
    missing: new OpSample(),
    half: new OpSample(),
    undeleted: new OpSample(),
    phantoms: new OpSample(),
  };
  const unexplained = new Map(Object.entries(found).map(([key, seqs]) => [key, new Set(seqs)]));
  const take = (id: OpId): boolean => unexplained.get(sessionKey(id))?.delete(id.seq) === true;
  for (const id of firstDocuments) if (!take(id)) result.missing.add(id);
  for (const log of options.journal.sessions()) {
    for (const seq of documentsBelow(log.length)) {
      if (log.wasSent(seq))
        judge(log, { ...log.id, seq }, take({ ...log.id, seq }), options, result);
    }
  }
  for (const id of rest(unexplained)) if (!mayBeSent(id, options)) result.phantoms.add(id);
  return result;
}

function judge(
  log: SessionLog,
  id: OpId,
  isThere: boolean,
  { takenAtMs, holds, withGaps }: DocumentOptions,
  { missing, half, undeleted, phantoms }: DocumentReconciliation,
): void {
  const deletion = deletionOf(id.seq);
  const deletedAtMs = deletion === undefined ? Number.POSITIVE_INFINITY : log.ackedAtMs(deletion);
  if (holds === undefined) {
    if (isThere && deletedAtMs <= takenAtMs) undeleted.add(id);
    return;
  }
  const hasDeletion = deletion !== undefined && holds(log, deletion);
  // A journal with gaps may not tell of it.
  const mayBeDeleted =
    deletion !== undefined && withGaps?.has(id.client) === true && !log.wasSent(deletion);
  if (!isThere) {
    if (holds(log, id.seq) && !hasDeletion && !mayBeDeleted) missing.add(id);
  } else if (hasDeletion) half.add(id);
  else if (deletedAtMs <= takenAtMs) undeleted.add(id);
  else if (!holds(log, id.seq)) phantoms.add(id);
}

function* rest(found: ReadonlyMap<string, ReadonlySet<number>>): Generator<OpId> {
  for (const [key, seqs] of found) {
    const [client = '', connection, session] = key.split('/');
    for (const seq of seqs) {
      yield { client, connection: Number(connection), session: Number(session), seq };
    }
  }
}

/** Asks as for rows: one whose record is missing beside a gap is no phantom. */
function mayBeSent(id: OpId, { journal, withGaps }: DocumentOptions): boolean {
  const { client, seq } = id;
  if (!isClient(client) || !putsDocument(seq)) return false;
  return withGaps?.has(client) === true || !journal.tellsOf(client);
}

// Ledger against journal: what every operation of the run became in one image. Rows are streamed, in primary
// key order, and only counters and a few samples are kept.

export interface Reconciliation extends LossCounts {
  /**
   * Why not every row of the ledger was read. When the damage of the image forbade it, what could not
   * be read counts as lost; when the audit itself failed, nothing does, and what is lost is not known.
   */
  readonly unread: Unread | undefined;
  /** Rows read. */
  readonly rows: number;
  /** By client: those read, and those of them that are as they were sent. */
  readonly byClient: ReadonlyMap<string, { readonly rows: number; readonly asSent: number }>;
  /** Rows whose id is not above that of the row before. */
  readonly disordered: number;
  /** Missing in the image before, which had to hold them, and present here. */
  readonly resurrected: OpSample;
  /** Rows nobody ever sent. */
  readonly phantoms: OpSample;
  /** Rows that only their clients can have sent, and that no journal tells of. */
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
  readonly before?: Reconciler | undefined;
  /** What was seen of readers and in the images before. Default: nothing. */
  readonly seen?: SeenCommits;
}

/** What is known of a session while its rows come. */
interface SessionProgress {
  readonly log: SessionLog;
  /** 1 for each seq whose row came. */
  readonly seen: Uint8Array;
  readonly sent: (seq: number) => OpContent;
  /** Highest seq met so far; −1: none. */
  highest: number;
}

/** Feed it every row of one image, then ask for the result. */
export class Reconciler {
  /** Clients whose journals lack rows that only they can have sent. */
  readonly incomplete = new Set<string>();
  /** Fed so far. */
  rows = 0;
  readonly #options: ReconcilerOptions;
  readonly #progress = new Map<SessionLog, SessionProgress>();
  readonly #movements = new Map<number, number>();
  readonly #found = {
    phantoms: new OpSample(),
    unjournaled: new OpSample(),
    failedPresent: new OpSample(),
    duplicates: new OpSample(),
    torn: new OpSample(),
    brokenLinks: new OpSample(),
    outOfOrder: new OpSample(),
  };
  /** Rows that somebody saw and that no journal tells of. */
  readonly #seenUnsent = new Set<SeenCommit>();
  readonly #byClient = new Map<string, { rows: number; asSent: number }>();
  #disordered = 0;
  #lastId = Number.NEGATIVE_INFINITY;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    for (const log of options.journal.sessions()) {
      const seen = new Uint8Array(log.length);
      const sent = sessionContents(options.seed, log.id);
      this.#progress.set(log, { log, seen, sent, highest: -1 });
    }
  }

  row(row: LedgerRow): void {
    this.rows += 1;
    const ofClient = this.#byClient.get(row.client) ?? { rows: 0, asSent: 0 };
    if (ofClient.rows === 0) this.#byClient.set(row.client, ofClient);
    ofClient.rows += 1;
    if (row.id <= this.#lastId) this.#disordered += 1;
    this.#lastId = row.id;
    this.#move(row.fromAccount, -row.amount);
    this.#move(row.toAccount, row.amount);
    const log = this.#options.journal.session(row);
    const progress = log === undefined ? undefined : this.#progress.get(log);
    if (log === undefined || progress === undefined || !log.wasSent(row.seq)) {
      const mayBeSent = this.#mayBeSent(row);
      this.#found[mayBeSent ? 'unjournaled' : 'phantoms'].add(row);
      if (mayBeSent) this.incomplete.add(row.client);
      const seen = this.#options.seen?.get(row);
      if (seen !== undefined) this.#seenUnsent.add(seen);
      return;
    }
    const { seen, sent } = progress;
    if (!row.hashFits || !saysWhatWas(sent(row.seq), row)) this.#found.torn.add(row);
    else ofClient.asSent += 1;
    if (log.outcome(row.seq) === outcomeCode.fail) this.#found.failedPresent.add(row);
    if (seen[row.seq] === 1) this.#found.duplicates.add(row);
    else this.#placed(row, progress);
    seen[row.seq] = 1;
  }

  /** Once all rows were fed. `unread` says why there were not more of them. */
  result(unread?: Unread, onLost?: OnLost): Reconciliation {
    const { takenAtMs, before } = this.#options;
    const losses = new Losses(unread, onLost);
    const resurrected = new OpSample();
    for (const progress of this.#progress.values()) {
      const { log, seen } = progress;
      for (let seq = 0; seq < log.length; seq++) {
        const isAcked = log.outcome(seq) === outcomeCode.ok;
        if (!isAcked || log.ackedAtMs(seq) > takenAtMs) continue;
        const isPresent = seen[seq] === 1;
        losses.count(progress, seq, isPresent, before?.holds(log, seq) === true);
        if (isPresent && before?.misses(log, seq) === true) resurrected.add({ ...log.id, seq });
      }
      losses.endSession();
    }
    return {
      unread,
      rows: this.rows,
      byClient: this.#byClient,
      disordered: this.#disordered,
      ...losses.result(),
      resurrected,
      ...this.#found,
      seenLost: [...this.#seenLost()],
      movements: this.#movements,
    };
  }

  /** What this image shows of operations whose outcome is unknown: they happened. */
  *unknownButPresent(by: string): Generator<SeenCommit> {
    const atMs = this.#options.takenAtMs;
    for (const { log, seen } of this.#progress.values()) {
      for (let seq = 0; seq < log.length; seq++) {
        if (log.outcome(seq) === outcomeCode.info && seen[seq] === 1)
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
    return this.#progress.get(log)?.seen[seq] === 1;
  }

  /** This image had to have the operation and has not. */
  misses(log: SessionLog, seq: number): boolean {
    return log.ackedAtMs(seq) <= this.#options.takenAtMs && !this.holds(log, seq);
  }

  /** Only its client, which has the seed, could make such a row: it is the journal that lacks its record. */
  #mayBeSent(row: LedgerRow): boolean {
    return (
      isClient(row.client) &&
      row.hashFits &&
      saysWhatWas(sessionContents(this.#options.seed, row)(row.seq), row)
    );
  }

  /** Where a row that is met for the first time stands among its session's rows. */
  #placed(row: LedgerRow, progress: SessionProgress): void {
    if (row.seq < progress.highest) this.#found.outOfOrder.add(row);
    else progress.highest = row.seq;
    if (row.linkFits) return;
    const { log, seen } = progress;
    // Behind a lost row nothing can link: that is its loss once more, not a finding of its own.
    const previous = log.lastAckedBefore(row.seq);
    if (previous === undefined || seen[previous] === 1) this.#found.brokenLinks.add(row);
  }

  #move(account: number, amount: number): void {
    if (amount === 0) return;
    this.#movements.set(account, (this.#movements.get(account) ?? 0) + amount);
  }
}

const isClient = (name: string): boolean => clientSides.some((side) => side === name);

const saysWhatWas = (sent: OpContent, row: LedgerRow): boolean =>
  sent.kind === row.kind &&
  sent.amount === row.amount &&
  sent.fromAccount === row.fromAccount &&
  sent.toAccount === row.toAccount;
