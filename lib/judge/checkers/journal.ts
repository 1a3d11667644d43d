/**
 * What the clients were told, operation by operation: typed arrays by session, nine bytes an
 * operation, so that millions fit in memory.
 */
import { type SessionId, SessionMap, type OpId, type OpOutcome } from '../../history/index.ts';

/** When and by whom an operation was acknowledged. */
export const epochs = [
  'beforeFault',
  'victimBeforeHandover',
  'victimAfterHandover',
  'successor',
] as const;
export type Epoch = (typeof epochs)[number];

/** The moments that part the epochs, ms on the run's clock. */
export interface EpochBounds {
  /** When the fault began; absent when it never did: everything is before it. */
  readonly faultAtMs?: number | undefined;
  /** The successor's first write; absent when there was none. */
  readonly handoverAtMs?: number | undefined;
  readonly victimNode?: string | undefined;
}

export interface JournaledOp extends OpId {
  readonly outcome: OpOutcome;
  /** When the outcome was known; absent where it never was. */
  readonly endedAtMs?: number;
  /** Who was asked; absent where the session's record is missing. */
  readonly server?: { readonly node: string };
}

export const outcomeCode = { never: 0, ok: 1, fail: 2, info: 3 } as const;
export type OutcomeCode = (typeof outcomeCode)[keyof typeof outcomeCode];

/** All operations of one session. */
export class SessionLog {
  readonly id: SessionId;
  /** Whose server answered; undefined where its record is missing. */
  readonly node: string | undefined;
  readonly #moments: EpochBounds;
  #outcomes = new Uint8Array(64);
  #endedMs = new Float64Array(64);
  #length = 0;

  constructor(id: SessionId, node: string | undefined, moments: EpochBounds) {
    this.id = id;
    this.node = node;
    this.#moments = moments;
  }

  /** One more than the highest seq that was sent. */
  get length(): number {
    return this.#length;
  }

  add({ seq, outcome, endedAtMs }: JournaledOp): void {
    if (seq >= this.#outcomes.length) this.#grow(seq + 1);
    this.#outcomes[seq] = outcomeCode[endedAtMs === undefined ? 'info' : outcome];
    this.#endedMs[seq] = endedAtMs ?? 0;
    this.#length = Math.max(this.#length, seq + 1);
  }

  wasSent(seq: number): boolean {
    return seq < this.#length && this.#outcomes[seq] !== outcomeCode.never;
  }

  outcome(seq: number): OutcomeCode {
    return (this.#outcomes[seq] ?? outcomeCode.never) as OutcomeCode;
  }

  /** Infinity where it was not acknowledged. */
  ackedAtMs(seq: number): number {
    const acked = this.#outcomes[seq] === outcomeCode.ok;
    return acked ? (this.#endedMs[seq] ?? 0) : Number.POSITIVE_INFINITY;
  }

  /** The acknowledged operation that this one links to. */
  lastAckedBefore(seq: number): number | undefined {
    for (let previous = seq - 1; previous >= 0; previous--) {
      if (this.#outcomes[previous] === outcomeCode.ok) return previous;
    }
    return undefined;
  }

  epoch(seq: number): Epoch {
    const { faultAtMs, handoverAtMs, victimNode } = this.#moments;
    const atMs = this.#endedMs[seq] ?? 0;
    if (faultAtMs === undefined || atMs < faultAtMs) return 'beforeFault';
    if (this.node !== victimNode) return 'successor';
    return handoverAtMs === undefined || atMs < handoverAtMs
      ? 'victimBeforeHandover'
      : 'victimAfterHandover';
  }

  /** By a quarter: twice would leave up to half of the memory unused. Frees the old at once. */
  #grow(needed: number): void {
    const length = Math.max(needed, Math.ceil(this.#outcomes.length * 1.25));
    this.#outcomes = new Uint8Array(this.#outcomes.buffer.transfer(length));
    this.#endedMs = new Float64Array(this.#endedMs.buffer.transfer(8 * length));
  }
}

export class Journal {
  readonly #moments: EpochBounds;
  readonly #bySession = new SessionMap<SessionLog>();
  readonly #clients = new Set<string>();

  constructor(moments: EpochBounds = {}) {
    this.#moments = moments;
  }

  /** Each operation once, in any order. */
  add(op: JournaledOp): void {
    let log = this.#bySession.get(op);
    if (log === undefined) {
      const { client, connection, session } = op;
      log = new SessionLog({ client, connection, session }, op.server?.node, this.#moments);
      this.#bySession.set(op, log);
      this.#clients.add(client);
    }
    log.add(op);
  }

  session(id: SessionId): SessionLog | undefined {
    return this.#bySession.get(id);
  }

  /** Something of this client's is in it. */
  tellsOf(client: string): boolean {
    return this.#clients.has(client);
  }

  sessions(): Iterable<SessionLog> {
    return this.#bySession.values();
  }
}
