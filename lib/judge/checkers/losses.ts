/** What an image had to hold and does not: counted by epoch, and named in ranges. */
import type { OpId, Unread } from '../../history/index.ts';
import { epochs, type Epoch, type SessionLog } from './journal.ts';

interface EpochCount {
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

export interface LossCounts {
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
}

const rangeLimit = 10_000;

/** One operation that was acknowledged by then and is not in the image. */
export type OnLost = (log: SessionLog, seq: number, epoch: Epoch) => void;

/** Counts what an image had to hold; fed session by session, in order of seq. */
export class Losses {
  readonly #byEpoch: Record<Epoch, EpochCount>;
  readonly #ranges: LostRange[] = [];
  #open: { -readonly [K in keyof LostRange]: LostRange[K] } | undefined;
  readonly #unread: Unread | undefined;
  readonly #onLost: OnLost | undefined;
  #acked = 0;
  #present = 0;
  #lost = 0;
  #lostSince = 0;
  #lostAreTails = true;

  /** `onLost` is told of each, however many ranges there are. */
  constructor(unread: Unread | undefined, onLost?: OnLost) {
    this.#unread = unread;
    this.#onLost = onLost;
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
    this.#onLost?.(log, seq, epoch);
    this.#extend(log, seq, epoch);
  }

  endSession(): void {
    this.#close();
  }

  result(): LossCounts {
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
