/**
 * The SQL port: what writers and audits ask of a database, by meaning and never as SQL text,
 * so that the same writer runs against a real server and against the model.
 */

/** Where an SQL client stands: on the victim's side of any partition, or outside the nodes. */
export type ClientSide = 'inside' | 'outside';

/** Who answered: read at every connect, since pod IPs, names and server UUIDs repeat. */
export interface ServerIdentity {
  /** Node the server runs on. */
  readonly node: string;
  /** UID of the pod. */
  readonly podUid: string;
  /** Wall time of the server's start, Unix seconds; ± 1 s. */
  readonly startedAtS: number;
}

/** Names one operation for ever: the n-th of one session of one connection of one client. */
export interface OpId {
  readonly client: string;
  /** 0-based connection of the client. */
  readonly connection: number;
  /** 0-based; grows at each reconnect of that connection. */
  readonly session: number;
  /** 0-based within the session. */
  readonly seq: number;
}

export type OpKind = 'append' | 'transfer';

/** A ledger row as it is written: the operation, its money movement and its place in the chain. */
export interface LedgerEntry extends OpId {
  readonly kind: OpKind;
  /** Account ids; equal and amount 0 for an `append`. */
  readonly fromAccount: number;
  readonly toAccount: number;
  readonly amount: number;
  /** SHA-256 (hex) of the chain before this entry. */
  readonly previousHash: string;
  /** SHA-256 (hex) over previousHash and the fields above (see ledger.ts). */
  readonly hash: string;
}

/** How an operation ended. `info`: unknown, e.g. the connection was lost after COMMIT was sent. */
export type OpOutcome = 'ok' | 'fail' | 'info';

/** What an SQL call throws. `outcome` says what is known; `fatal` that the session is gone. */
export class SqlError extends Error {
  readonly outcome: 'fail' | 'info';
  readonly fatal: boolean;
  readonly code: string;
  constructor(
    message: string,
    options: { outcome: 'fail' | 'info'; fatal: boolean; code: string; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.name = 'SqlError';
    this.outcome = options.outcome;
    this.fatal = options.fatal;
    this.code = options.code;
  }
}

/** One connection to one server. Every call has the client's own timeout. */
export interface SqlSession {
  readonly server: ServerIdentity;
  /** One autocommitted single-row insert; resolves when the commit is acknowledged. Throws SqlError. */
  append(entry: LedgerEntry): Promise<void>;
  /** One transaction: the ledger row and both balances. Throws SqlError. */
  transfer(entry: LedgerEntry): Promise<void>;
  /** One transaction: the ledger row and the document of the same name. Throws SqlError. */
  put(entry: LedgerEntry, body: Buffer): Promise<void>;
  /** One transaction: the ledger row, and a document is deleted, if it is there. Throws SqlError. */
  remove(entry: LedgerEntry, document: OpId): Promise<void>;
  /**
   * The run's one change of the schema, online and in one statement: the accounts get a column and an
   * index over it, which rebuilds their table. Throws SqlError.
   */
  changeSchema(): Promise<void>;
  /** The newest row of the ledger as this server has it; undefined while it is empty. Throws SqlError. */
  readHead(): Promise<OpId | undefined>;
  close(): Promise<void>;
}

export interface SqlConnector {
  /** Connects from the given side and asks who answers. Throws SqlError (`fail`, fatal). */
  connect(side: ClientSide): Promise<SqlSession>;
}
