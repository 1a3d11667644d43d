/** Clients that write and read while a run breaks things. The same code runs against a real server and against the model. */
import { type Clock, randomStream, type RandomStream } from '../core/index.ts';
import {
  type ClientPlan,
  type SegmentList,
  type ClientSide,
  type ClientBeatRecord,
  beatEveryMs,
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
  type ReadRecord,
  type SchemaChangeRecord,
} from '../history/index.ts';

export interface WriterSpec extends ClientPlan {
  readonly client: ClientSide;
  /** Seed of this writer's own random stream. */
  readonly seed: string;
}

/** Running writers: real processes on kind. They record into the run's history by themselves. */
export interface Writers {
  /** Acknowledged operations so far by client and node that acknowledged. */
  acked(): readonly {
    readonly client: ClientSide;
    readonly node: string;
    readonly count: number;
  }[];
  /** The client on the victim's side changes the schema, now; its journal tells how that ended. */
  changeSchema(): void;
  /**
   * Stops sending, waits for what is under way (bounded), closes. Resolves to the segments that they
   * have written, as they counted them. Idempotent.
   */
  stop(): Promise<SegmentList>;
}

export class Pacer {
  /** From one operation of the connection to its next; Infinity where there are none. */
  readonly intervalMs: number;
  #dueMs: number;

  /** `ratePerSecond` is the client's; its connections take turns, evenly staggered. */
  constructor(ratePerSecond: number | 'max', connections: number, turn: number, startMs: number) {
    const slotMs = ratePerSecond === 'max' ? 0 : 1000 / ratePerSecond;
    this.intervalMs = slotMs * connections;
    this.#dueMs = startMs + slotMs * turn;
  }

  /** Takes the next slot: milliseconds from now until it begins, 0 when it is due. */
  takeMs(nowMs: number): number {
    const beginMs = Math.max(this.#dueMs, nowMs);
    this.#dueMs = beginMs + this.intervalMs;
    return beginMs - nowMs;
  }
}

/** To the microsecond. */
const round = (ms: number): number => Math.round(ms * 1000) / 1000;

interface BeatingOptions<R extends { readonly type: string }> {
  readonly clock: Clock;
  readonly journal: Journal<R | ClientBeatRecord>;
  readonly client: string;
  readonly doing: ClientBeatRecord['doing'];
  /** When it aborts, the client ends. */
  readonly signal: AbortSignal;
}

/** Where a client's records go: a segment of the history. */
interface Journal<R> {
  append(record: R): void;
  /** Everything appended is on file when this returns. */
  flush(): void;
}

/** What a client at work is given: its journal, and a way to tell of what leaves no record. */
export interface Counting<R> {
  readonly journal: Journal<R>;
  readonly count: (what: string) => void;
}

/**
 * A client's signs of life: from its first record to its last it says at intervals how many it has
 * journaled, so that a record which is gone, or a client which fell silent, is missed. Resolves or
 * rejects as `work` does, which ends once the signal has aborted.
 */
export async function beating<R extends { readonly type: string }>(
  { clock, journal, client, doing, signal }: BeatingOptions<R>,
  work: (counting: Counting<R>) => Promise<void>,
): Promise<void> {
  const done: Record<string, number> = {};
  const count = (what: string): void => {
    done[what] = (done[what] ?? 0) + 1;
  };
  const beat = (more: { readonly last?: true } = {}): void => {
    const t = round(clock.nowMs());
    journal.append({ type: 'client-beat', t, client, doing, done: { ...done }, ...more });
    journal.flush();
  };
  const counted: Journal<R> = {
    append(record) {
      journal.append(record);
      count(record.type);
    },
    flush: () => journal.flush(),
  };
  beat();
  const working = work({ journal: counted, count });
  const ended = new AbortController();
  const end = (): void => ended.abort();
  // An error ends the beats at once, and is thrown below.
  working.then(end, end);
  const until = AbortSignal.any([signal, ended.signal]);
  while (await slept(clock, beatEveryMs, until)) beat();
  await working;
  beat({ last: true });
}

/** False where the signal came first. */
export async function slept(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

export type WriterRecord = SessionRecord | InvokeRecord | OutcomeRecord | ClientBeatRecord;

export interface WriterOptions {
  readonly connector: SqlConnector;
  readonly clock: Clock;
  readonly journal: Journal<WriterRecord>;
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

/**
 * Keeps its connections writing at a given rate and journals every operation, its invoke before it is
 * sent and its outcome before the connection's next one. Resolves once the signal has aborted and
 * every session is closed; rejects on an internal error.
 */
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
    const t = round(clock.nowMs());
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

interface ReaderOptions {
  readonly connector: SqlConnector;
  readonly clock: Clock;
  readonly journal: Journal<ReadRecord | ClientBeatRecord>;
  readonly client: ClientSide;
  /** Between two reads, ms; also between a lost session and the next try. */
  readonly everyMs: number;
  /** When it aborts, nothing more is asked. */
  readonly signal: AbortSignal;
}

/**
 * Reads the ledger's newest row again and again: whether a server that was replaced still answers with
 * the past. Resolves once the signal has aborted and the session is closed; rejects on an internal error.
 */
export async function runReader(options: ReaderOptions): Promise<void> {
  await beating<ReadRecord>({ ...options, doing: 'reading' }, async ({ journal, count }) => {
    const { connector, client, signal } = options;
    const refused = (): void => count('refused');
    while (!signal.aborted) {
      const session = await unlessSqlFails(() => connector.connect(client), refused);
      if (session !== undefined) {
        await unlessSqlFails(() => readOn(session, options, journal), refused);
        await session.close();
      }
      await slept(options.clock, options.everyMs, signal);
    }
  });
}

/** Reads until the session is lost, which throws SqlError, or the reader is stopped. */
async function readOn(
  session: SqlSession,
  options: ReaderOptions,
  journal: Journal<ReadRecord>,
): Promise<void> {
  const { clock, client, everyMs, signal } = options;
  const { server } = session;
  while (!signal.aborted) {
    const sentAtMs = round(clock.nowMs());
    const head = await session.readHead();
    const about = { type: 'read', t: round(clock.nowMs()), client, server, sentAtMs } as const;
    journal.append(head === undefined ? about : { ...about, head });
    journal.flush();
    await slept(clock, everyMs, signal);
  }
}

/** A server that can't be reached, or goes away, is no error of the reader's. */
async function unlessSqlFails<T>(
  work: () => Promise<T>,
  onFailure: () => void,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    onFailure();
    return undefined;
  }
}

interface SchemaChangeOptions {
  readonly connector: SqlConnector;
  readonly clock: Clock;
  readonly journal: Journal<SchemaChangeRecord>;
  readonly client: ClientSide;
}

/**
 * Journaled before it is sent and when its end is known, and never tried again. Never rejects for what a
 * server says, or for there being none: that is the record's outcome.
 */
export async function changeSchema(options: SchemaChangeOptions): Promise<void> {
  const { connector, clock, journal, client } = options;
  const record = (
    about: Pick<SchemaChangeRecord, 'step' | 'outcome' | 'error' | 'server'>,
  ): void => {
    const t = round(clock.nowMs());
    journal.append({ type: 'schema-change', t, wall: clock.wallMs(), client, ...about });
    journal.flush();
  };
  record({ step: 'asked' });
  let session: SqlSession | undefined;
  try {
    session = await connector.connect(client);
    record({ step: 'sent', server: session.server });
    await session.changeSchema();
    record({ step: 'ended', outcome: 'ok' });
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    record({ step: 'ended', outcome: error.outcome, error: describe(error) });
  } finally {
    await session?.close();
  }
}
