/**
 * Stale reads: a server that was replaced still answers, with the ledger as it was. A read by the
 * old pod counts once the successor had acknowledged something before the read was sent, and the
 * newest row that the read saw is none of the successor's.
 */
import type { OutcomeRecord, ReadRecord, SessionRecord } from '../history/client-records.ts';
import { sessionKey } from '../workload/ledger.ts';
import type { OpId } from '../workload/sql.ts';

/** Stale reads of one client. */
export interface StaleReads {
  readonly client: string;
  readonly count: number;
  /** When the first and the last of them were sent, on the run's clock. */
  readonly fromMs: number;
  readonly toMs: number;
  /** How long the oldest commit that a read did not see had been acknowledged by then. */
  readonly oldestMs: number;
  /** Commits of the successor that a read did not see, at most. */
  readonly behind: number;
}

export interface StaleReadWindow {
  /** The pod that the fault hit. */
  readonly victimUid: string | undefined;
  readonly victimNode: string | undefined;
  readonly faultAtMs: number | undefined;
}

/** Fed sessions, outcomes and reads in time order, one pass. */
export class StaleReadMeter {
  readonly #window: StaleReadWindow;
  /** Sessions by their key, to the node that answered. */
  readonly #nodes = new Map<string, string>();
  /** The successor's acknowledgements, in order of time. */
  readonly #ackedMs: number[] = [];
  readonly #byClient = new Map<string, StaleReads>();

  constructor(window: StaleReadWindow) {
    this.#window = window;
  }

  see(record: SessionRecord | OutcomeRecord | ReadRecord): void {
    if (record.type === 'session') {
      if (record.server !== undefined) this.#nodes.set(sessionKey(record), record.server.node);
    } else if (record.type === 'outcome') {
      if (record.outcome === 'ok' && this.#isSuccessors(record)) this.#ack(record.t);
    } else if (record.server.podUid === this.#window.victimUid) {
      this.#read(record);
    }
  }

  result(): StaleReads[] {
    return [...this.#byClient.values()];
  }

  #ack(t: number): void {
    if (t >= (this.#window.faultAtMs ?? Number.POSITIVE_INFINITY)) this.#ackedMs.push(t);
  }

  #isSuccessors(of: Omit<OpId, 'seq'>): boolean {
    const node = this.#nodes.get(sessionKey(of));
    return node !== undefined && node !== this.#window.victimNode;
  }

  #read({ client, sentAtMs, head }: ReadRecord): void {
    const [firstMs] = this.#ackedMs;
    if (firstMs === undefined || firstMs > sentAtMs) return;
    if (head !== undefined && this.#isSuccessors(head)) return;
    const oldestMs = sentAtMs - firstMs;
    const before = this.#byClient.get(client);
    this.#byClient.set(client, {
      client,
      count: (before?.count ?? 0) + 1,
      fromMs: before?.fromMs ?? sentAtMs,
      toMs: sentAtMs,
      oldestMs: Math.max(before?.oldestMs ?? 0, oldestMs),
      behind: Math.max(before?.behind ?? 0, this.#ackedBy(sentAtMs)),
    });
  }

  /** The answer came a little later than the question: look back from the end. */
  #ackedBy(ms: number): number {
    let count = this.#ackedMs.length;
    while (count > 0 && (this.#ackedMs[count - 1] ?? 0) > ms) count -= 1;
    return count;
  }
}
