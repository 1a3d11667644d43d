/** What the clients journal: each session, each operation and what became of it, each read. */
import type { OpId, OpKind, OpOutcome, ServerIdentity } from './workload/sql.ts';

/** A client opened (or failed to open) a session. Operations refer to it by connection + session. */
export interface SessionRecord extends Stamped, Omit<OpId, 'seq'> {
  readonly type: 'session';
  /** Absent where the connect failed; then `error` says why. */
  readonly server?: ServerIdentity;
  readonly error?: string;
}

/** An operation is sent. `client` is the segment's owner. */
export interface InvokeRecord extends Stamped, OpId {
  readonly type: 'invoke';
  readonly kind: OpKind;
}

export interface OutcomeRecord extends Stamped, OpId {
  readonly type: 'outcome';
  readonly outcome: OpOutcome;
  readonly error?: string;
}

/** A client changes the schema, once in a run: `asked` before it has a session to send it on. */
export interface SchemaChangeRecord extends Stamped {
  readonly type: 'schema-change';
  readonly client: string;
  readonly step: 'asked' | 'sent' | 'ended';
  /** Part of `sent`. */
  readonly server?: ServerIdentity;
  /** Part of `ended`. */
  readonly outcome?: OpOutcome;
  readonly error?: string;
}

/** A client read the newest row of the ledger; `t` is when the answer came. */
export interface ReadRecord extends Stamped {
  readonly type: 'read';
  readonly client: string;
  readonly server: ServerIdentity;
  /** When it was asked, on the run's clock. */
  readonly sentAtMs: number;
  /** Absent where the ledger was empty. */
  readonly head?: OpId;
}

/** What one client is told to do. */
export interface ClientPlan {
  readonly client: string;
  readonly connections: number;
  /** Operations a second, of all its connections together. */
  readonly rate: number | 'max';
  /** Between two reads of the newest row, on a connection of their own; absent where it reads nothing. */
  readonly readEveryMs?: number;
}

/** What the clients are to do, told before they begin. Since version 3. */
export interface WorkloadRecord extends Stamped {
  readonly type: 'workload';
  readonly clients: readonly ClientPlan[];
}

/** A client lives: how many records of each type it has journaled by then. Since version 3. */
export interface ClientBeatRecord extends Stamped {
  readonly type: 'client-beat';
  readonly client: string;
  readonly doing: 'writing' | 'reading';
  /** By type of record; what never came is absent. Of a reader `refused` too: tries without an answer. */
  readonly done: Readonly<Record<string, number>>;
  /** It ends, as it was told to. */
  readonly last?: true;
}

/** What every record that came at a time has. */
export interface Stamped {
  /** Monotonic milliseconds since the run began. */
  readonly t: number;
  /** Unix milliseconds; absent on operations, whose session record has it. */
  readonly wall?: number;
}
