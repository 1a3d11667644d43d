/**
 * The evidence of one image while it is gathered. A step that fails is a named gap, and what mysqld
 * refuses is evidence; neither ends the work.
 */
import {
  nothingRead,
  type ImageEvidence,
  type LedgerRow,
  type ServerStart,
} from '../../history/index.ts';
import { answerOfStart } from '../../judge/index.ts';
import { describeError, EvidenceError } from '../../core/index.ts';
import { assertRunnable, Mysqld, type MysqldOptions } from './mysqld.ts';
import {
  compareIndexes,
  type IndexMixes,
  readDocuments,
  readSchema,
  checkTable,
  tablesToCheck,
  readBalances,
  streamLedger,
} from './read-tables.ts';
import { patiently } from '../../storage/index.ts';
import { type MysqlEvidence, mysqlLog } from '../evidence.ts';
import { RowVerifier, type SessionRows } from './rows.ts';
import { refusalOf, type SqlClient } from './sql-client.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Draft = Writable<ImageEvidence & MysqlEvidence> & {
  starts: ServerStart[];
  failures: string[];
  sqlFailures: { what: string; error: string }[];
  durationsMs: Record<string, number>;
};

export type Use = (client: SqlClient, server: AuditServer) => Promise<void>;

export type AuditServer = Pick<
  Mysqld,
  'ready' | 'refused' | 'died' | 'diedSoon' | 'kill' | 'stop' | 'record'
>;

interface DraftOptions {
  /** Begins to start a server. Default: mysqld. */
  readonly start?: (options: MysqldOptions) => AuditServer;
  /** Before what the machine kept from starting is tried again, ms. Default: as `patiently` has it. */
  readonly waitMs?: number;
}

export interface RowReading {
  /** The run's seed: gives what each session's first row must link to. */
  readonly seed: string;
  /** Rows in primary key order; when it returns a promise, reading waits for it. */
  readonly onRows: (rows: readonly LedgerRow[]) => Promise<void> | void;
}

/** What one pass over all of the ledger gives for the comparisons with its indexes and the binary log. */
export interface WholePass {
  readonly mixes: IndexMixes;
  readonly sessions: Readonly<Record<string, SessionRows>>;
}

export class EvidenceDraft {
  readonly evidence: Draft = {
    ...nothingRead(),
    tables: [],
    innochecksum: [],
    starts: [],
    failures: [],
    sqlFailures: [],
    durationsMs: {},
  };
  readonly #signal: AbortSignal;
  readonly #onStep: (step: string) => void;
  readonly #options: DraftOptions;

  constructor(
    signal: AbortSignal,
    onStep: (step: string) => void = () => undefined,
    options: DraftOptions = {},
  ) {
    this.#options = options;
    this.#signal = signal;
    this.#onStep = onStep;
  }

  /** Times one step; what it throws becomes a named gap. Rejects only when it was aborted. */
  async step(name: string, work: () => Promise<void>): Promise<void> {
    this.#signal.throwIfAborted();
    this.#onStep(name);
    const startedMs = performance.now();
    try {
      await work();
    } catch (error) {
      this.#signal.throwIfAborted();
      this.evidence.failures.push(`${name}: ${describeError(error)}`);
    } finally {
      this.evidence.durationsMs[name] = Math.round(performance.now() - startedMs);
    }
  }

  /**
   * One question to the server; resolves to why it got no answer. A refusal is evidence: one that proves no
   * damage is asked again where nothing was read meanwhile. A dead server has a record of its own, and one that was
   * only slow is a gap (EvidenceError).
   */
  async ask(
    what: string,
    server: Pick<Mysqld, 'died' | 'diedSoon'>,
    question: () => Promise<void>,
  ): Promise<string | undefined> {
    let refused: string | undefined;
    await this.step(what, async () => {
      if (server.died !== undefined) return;
      const { evidence } = this;
      const rowsBefore = evidence.ledgerRows;
      const failure = await patiently({
        ...this.#options,
        signal: this.#signal,
        work: async () => {
          refused = undefined;
          try {
            await question();
            return undefined;
          } catch (error) {
            refused = refusalOf(error)?.message ?? describeError(error);
            if (error instanceof EvidenceError) throw error;
            return (await server.diedSoon()) ? undefined : refused;
          }
        },
        isTrouble: (error) =>
          error !== undefined &&
          evidence.ledgerRows === rowsBefore &&
          !mysqlLog.refusals.test(error),
      });
      if (failure !== undefined) evidence.sqlFailures.push({ what, error: failure });
    });
    return refused;
  }

  /** Resolves to whether the volume is mounted; a refusal is evidence. */
  async mount(volume: { mount(): Promise<string | undefined> }): Promise<boolean> {
    await this.step('mount', async () => {
      const refused = await volume.mount();
      this.evidence.mounted = refused === undefined;
      if (refused !== undefined) this.evidence.mountError = refused;
    });
    return this.evidence.mounted;
  }

  /**
   * Starts a server, lets it be used, kills it if it still runs, and notes what became of it. One
   * that the machine kept from starting is started again, and only the last try is kept.
   */
  async serve(options: Omit<MysqldOptions, 'signal'>, use: Use): Promise<void> {
    const { starts } = this.evidence;
    const before = starts.length;
    await this.step(options.purpose, async () => {
      await patiently({
        ...this.#options,
        signal: this.#signal,
        work: async () => {
          starts.length = before;
          await this.#serveOnce(options, use);
          return starts.at(-1);
        },
        // One that hangs has had its time.
        isTrouble: (start) =>
          start?.ready === false &&
          start.died !== undefined &&
          answerOfStart(start, this.evidence, mysqlLog) === 'none',
      });
    });
  }

  async #serveOnce(options: Omit<MysqldOptions, 'signal'>, use: Use): Promise<void> {
    const signal = this.#signal;
    const { start: begin = (about: MysqldOptions): AuditServer => new Mysqld(about) } =
      this.#options;
    const server = begin({ ...options, signal });
    const kill = (): void => void server.kill();
    signal.addEventListener('abort', kill);
    try {
      const client = await server.ready();
      if (client !== undefined) {
        await use(client, server);
        client.destroy();
      } else if (server.refused !== undefined) {
        this.evidence.login = { refused: server.refused };
      }
    } finally {
      signal.removeEventListener('abort', kill);
      await server.kill();
      const start = await server.record();
      assertRunnable(start);
      this.evidence.starts.push(start);
    }
  }

  /** Every row of the ledger, then the balances. Resolves to what a whole pass says besides. */
  async readRows(
    client: SqlClient,
    server: Pick<Mysqld, 'died' | 'diedSoon'>,
    { seed, onRows }: RowReading,
  ): Promise<WholePass | undefined> {
    const { evidence } = this;
    const verifier = new RowVerifier(seed);
    let mixes: IndexMixes | undefined;
    const error = await this.ask('ledger', server, async () => {
      mixes = await streamLedger(client, verifier, (rows) => {
        evidence.ledgerRows += rows.length;
        return onRows(rows);
      });
      evidence.ledgerComplete = true;
    });
    if (error !== undefined) evidence.ledgerError = error;
    await this.ask('balances', server, async () => {
      evidence.balances = await readBalances(client);
    });
    return mixes === undefined ? undefined : { mixes, sessions: verifier.sessions() };
  }

  /** May crash the server. */
  async checkTables(client: SqlClient, server: Pick<Mysqld, 'died' | 'diedSoon'>): Promise<void> {
    const { evidence } = this;
    await this.ask('check table', server, async () => {
      for (const quoted of await tablesToCheck(client)) {
        const found = await checkTable(client, quoted);
        const before = evidence.tables.find(({ table }) => table === found.table);
        const others = evidence.tables.filter(({ table }) => table !== found.table);
        evidence.tables = [...others, { ...before, ...found }];
      }
    });
  }

  /** Schema, then the documents beside the indexes: a server takes one processor for each. */
  async readBeyondRows(
    client: SqlClient,
    server: Pick<Mysqld, 'died' | 'diedSoon'>,
    { seed, mixes }: Pick<RowReading, 'seed'> & { readonly mixes: IndexMixes | undefined },
  ): Promise<void> {
    const { evidence } = this;
    await this.ask('schema', server, async () => {
      evidence.schema = await readSchema(client);
    });
    const documents = this.ask('documents', server, async () => {
      evidence.documents = await client.beside((own) => readDocuments(own, seed));
    });
    const indexes = this.ask('indexes', server, async () => {
      const isChanged = evidence.schema?.state === 'changed';
      evidence.indexCounts = await compareIndexes(client, mixes, isChanged);
    });
    await Promise.all([documents, indexes]);
  }
}
