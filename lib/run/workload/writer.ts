/**
 * One client: keeps its connections writing to the ledger at a given rate and journals every
 * operation, its invoke before it is sent and its outcome before the connection's next one. The
 * same code runs against a real server and against the model.
 */
import { type Clock, randomStream, type RandomStream } from '../../core/index.ts';
import type { WriterSpec } from './port.ts';
import {
  type ClientBeatRecord,
  type InvokeRecord,
  type OutcomeRecord,
  type SessionRecord,
  documentAction,
  documentBody,
  Chain,
  type SessionId,
  SqlError,
  type LedgerEntry,
  type OpOutcome,
  type ServerIdentity,
  type SqlConnector,
  type SqlSession,
} from '../../history/index.ts';
import { beating, slept } from './beating.ts';
import { Pacer } from './pacer.ts';

export type WriterRecord = SessionRecord | InvokeRecord | OutcomeRecord | ClientBeatRecord;

/** Where a writer's records go: a segment of the history. */
export interface WriterJournal {
  append(record: WriterRecord): void;
  /** Everything appended is on file when this returns. */
  flush(): void;
}

export interface WriterOptions {
  readonly connector: SqlConnector;
  readonly clock: Clock;
  readonly journal: WriterJournal;
  readonly spec: WriterSpec;
  /** The run's seed: gives the content of every operation. */
  readonly seed: string;
  /** When it aborts, nothing more is sent and what is under way is waited for. */
  readonly signal: AbortSignal;
  /** One operation in so many is a transfer; 0: nothing but rows of the ledger. Default 8. */
  readonly transferEvery?: number;
  /** Number of each connection's first session: a client that begins again needs new ones. Default 0. */
  readonly firstSession?: number;
  /** Called at each acknowledgement. */
  readonly onAck?: (server: ServerIdentity) => void;
}

/**
 * A lost or refused session is opened anew after a pause of this length, ms, drawn uniformly; a
 * client that writes less often takes as much longer, up to eight times.
 */
const reconnectPauseMs = { min: 100, max: 250 };
const longestPauses = 8;

/** Resolves once the signal has aborted and every session is closed; rejects on an internal error. */
export async function runWriter(options: WriterOptions): Promise<void> {
  const { spec } = options;
  await beating<WriterRecord>({ ...options, client: spec.client, doing: 'writing' }, async (to) => {
    const connections = Array.from(
      { length: spec.connections },
      (_, connection) => new WriterConnection({ ...options, journal: to.journal }, connection),
    );
    await Promise.all(connections.map((connection) => connection.run()));
  });
}

class WriterConnection {
  readonly #options: WriterOptions;
  readonly #connection: number;
  readonly #pacer: Pacer;
  readonly #random: RandomStream;

  constructor(options: WriterOptions, connection: number) {
    const { spec, clock } = options;
    this.#options = options;
    this.#connection = connection;
    this.#pacer = new Pacer(spec.rate, spec.connections, connection, clock.nowMs());
    this.#random = randomStream(spec.seed).stream(`${spec.client}/${connection}`);
  }

  async run(): Promise<void> {
    const { signal, spec, firstSession = 0 } = this.#options;
    for (let session = firstSession; !signal.aborted; session++) {
      const id = { client: spec.client, connection: this.#connection, session };
      const opened = await this.#open(id);
      if (opened !== undefined) {
        await (spec.rate === 0 ? this.#hold() : this.#write(opened, id));
        await opened.close();
      }
      await this.#reconnectPause();
    }
  }

  /** Connects and journals who answered, or why nobody did. */
  async #open(id: SessionId): Promise<SqlSession | undefined> {
    const { connector, signal, spec } = this.#options;
    try {
      const opened = await connector.connect(spec.client);
      this.#recordSession({ ...id, server: opened.server });
      return opened;
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      if (!signal.aborted) this.#recordSession({ ...id, error: describe(error) });
      return undefined;
    }
  }

  #recordSession(about: Omit<SessionRecord, 'type' | 't' | 'wall'>): void {
    const { clock, journal } = this.#options;
    const t = Math.round(clock.nowMs() * 1000) / 1000;
    journal.append({ type: 'session', t, wall: clock.wallMs(), ...about });
    journal.flush();
  }

  /** An idle client: the session stays open and nothing is sent. */
  async #hold(): Promise<void> {
    while (await this.#pause(60_000));
  }

  /** Writes until the session is lost or the writer stops. */
  async #write(session: SqlSession, id: SessionId): Promise<void> {
    const { clock, journal, seed, signal, transferEvery, onAck } = this.#options;
    const chain = new Chain(seed, id, transferEvery);
    while (!signal.aborted) {
      const waitMs = this.#pacer.takeMs(clock.nowMs());
      if (waitMs > 0 && !(await this.#pause(waitMs))) return;
      const entry = chain.next();
      const { seq, kind } = entry;
      journal.append({ ...id, type: 'invoke', t: clock.nowMs(), seq, kind });
      // Also the outcome before it, where there was no pause in between: one write for both.
      journal.flush();
      const { outcome, error } = await this.#send(session, entry);
      const about = { ...id, type: 'outcome', t: clock.nowMs(), seq, outcome } as const;
      journal.append(error === undefined ? about : { ...about, error: describe(error) });
      if (outcome === 'ok') {
        chain.acknowledge(entry);
        onAck?.(session.server);
      } else if (outcome === 'info' || error?.fatal === true) {
        return;
      } else {
        // A server that refuses everything must not be asked as fast as it can say no.
        await this.#reconnectPause();
      }
    }
  }

  async #send(session: SqlSession, entry: LedgerEntry): Promise<WriteAnswer> {
    try {
      await this.#perform(session, entry);
      return acknowledged;
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      return { outcome: error.outcome, error };
    }
  }

  #perform(session: SqlSession, entry: LedgerEntry): Promise<void> {
    const { seed, transferEvery } = this.#options;
    if (entry.kind === 'transfer') return session.transfer(entry);
    const action = transferEvery === 0 ? undefined : documentAction(entry);
    if (action === undefined) return session.append(entry);
    if (action.verb === 'put') return session.put(entry, documentBody(seed, entry));
    const { client, connection } = entry;
    return session.remove(entry, { client, connection, session: entry.session, seq: action.seq });
  }

  async #reconnectPause(): Promise<void> {
    const { intervalMs } = this.#pacer;
    const times = Number.isFinite(intervalMs) ? intervalMs / reconnectPauseMs.max : 1;
    const drawnMs = this.#random.int(reconnectPauseMs.min, reconnectPauseMs.max);
    await this.#pause(drawnMs * Math.min(longestPauses, Math.max(1, times)));
  }

  /** What was journaled is on file before it. False when the writer was stopped meanwhile. */
  #pause(ms: number): Promise<boolean> {
    const { clock, journal, signal } = this.#options;
    journal.flush();
    return slept(clock, ms, signal);
  }
}

interface WriteAnswer {
  readonly outcome: OpOutcome;
  readonly error?: SqlError;
}

const acknowledged: WriteAnswer = { outcome: 'ok' };

const describe = (error: SqlError): string => `${error.code}: ${error.message}`;
