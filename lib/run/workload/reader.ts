/**
 * A client's reads: the ledger's newest row, again and again, on a connection of its own. They tell
 * whether a server that was replaced still answers with the past. Runs against a real server and the model.
 */
import type { Clock } from '../../core/index.ts';
import {
  type ClientBeatRecord,
  type ReadRecord,
  SqlError,
  type ClientSide,
  type SqlConnector,
  type SqlSession,
} from '../../history/index.ts';
import { beating, slept, type Counting } from './beating.ts';

/** Where the reads are recorded: a segment of the history. */
export interface ReadJournal {
  append(record: ReadRecord | ClientBeatRecord): void;
  /** Everything appended is on file when this returns. */
  flush(): void;
}

export interface ReaderOptions {
  readonly connector: SqlConnector;
  readonly clock: Clock;
  readonly journal: ReadJournal;
  readonly client: ClientSide;
  /** Between two reads, ms; also between a lost session and the next try. */
  readonly everyMs: number;
  /** When it aborts, nothing more is asked. */
  readonly signal: AbortSignal;
}

/** Resolves once the signal has aborted and the session is closed; rejects on an internal error. */
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
      await pause(options);
    }
  });
}

/** Reads until the session is lost, which throws SqlError, or the reader is stopped. */
async function readOn(
  session: SqlSession,
  options: ReaderOptions,
  journal: Counting<ReadRecord>['journal'],
): Promise<void> {
  const { clock, client, signal } = options;
  const { server } = session;
  while (!signal.aborted) {
    const sentAtMs = round(clock.nowMs());
    const head = await session.readHead();
    const about = { type: 'read', t: round(clock.nowMs()), client, server, sentAtMs } as const;
    journal.append(head === undefined ? about : { ...about, head });
    journal.flush();
    await pause(options);
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

const pause = ({ clock, everyMs, signal }: ReaderOptions): Promise<boolean> =>
  slept(clock, everyMs, signal);

const round = (ms: number): number => Math.round(ms * 1000) / 1000;
