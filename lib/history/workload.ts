/** The workload: what clients ask of a database by meaning, never as SQL text, and what each operation says. */
import { z } from 'zod';
import { createHash, hash } from 'node:crypto';
import { key32, mix32 } from '../core/index.ts';

/** Where an SQL client stands: on the victim's side of any partition, or outside the nodes. */
export type ClientSide = 'inside' | 'outside';

/** Who answered: read at every connect, since pod IPs, names and server UUIDs repeat. */
export interface ServerIdentity {
  /** Node the server runs on. */
  readonly node: string;
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
  /** SHA-256 (hex) over previousHash and the fields above (see `entryHash`). */
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

/**
 * Documents: values too large for a page, which a database keeps outside the row, and their deletion. A few
 * of each session's appends write or delete one of the session's own, in the same transaction as
 * their row of the ledger. Which, and every byte of it, follows from the operation's ids.
 */
/** More than half a page of 16 KiB less its overhead, so that no part of it stays in the row. */
const documentBytes = 10_000;

/** After so many operations of a session the pattern below begins anew. */
const documentCycle = 128;

/**
 * Within a cycle: one document that is deleted soon, one that lives about a cycle. Early, so that a
 * session that writes once a second has done each within seven of them.
 */
const place = { putsShort: 2, putsLong: 4, deletesLong: 5, deletesShort: 6 } as const;
/** Cycles of which one leaves its longer document for good. */
const keepEvery = 4;

interface DocumentAction {
  readonly verb: 'put' | 'delete';
  /** The operation of the same session that puts it. */
  readonly seq: number;
}

const stays = (cycle: number): boolean => cycle % keepEvery === 0;

/** What an append does besides its row; undefined for most, and for every transfer. */
export function documentAction({
  kind,
  seq,
}: Pick<LedgerEntry, 'kind' | 'seq'>): DocumentAction | undefined {
  if (kind !== 'append') return undefined;
  const cycle = Math.floor(seq / documentCycle);
  switch (seq % documentCycle) {
    case place.putsShort:
    case place.putsLong:
      return { verb: 'put', seq };
    case place.deletesShort:
      return { verb: 'delete', seq: seq - place.deletesShort + place.putsShort };
    case place.deletesLong:
      if (cycle === 0 || stays(cycle - 1)) return undefined;
      return { verb: 'delete', seq: seq - documentCycle - place.deletesLong + place.putsLong };
    default:
      return undefined;
  }
}

/** Operations of a session below `length` that put a document. */
export function* documentsBelow(length: number): Generator<number> {
  for (let begin = 0; begin < length; begin += documentCycle) {
    for (const at of [place.putsShort, place.putsLong]) if (begin + at < length) yield begin + at;
  }
}

/** The operation of that number, if it was sent as an append, puts a document. */
export const putsDocument = (seq: number): boolean =>
  documentAction({ kind: 'append', seq })?.verb === 'put';

/** Seq of the operation that deletes what the operation `seq` puts; undefined where it is kept. */
export function deletionOf(seq: number): number | undefined {
  const cycle = Math.floor(seq / documentCycle);
  const begin = cycle * documentCycle;
  if (seq - begin === place.putsShort) return begin + place.deletesShort;
  return stays(cycle) ? undefined : begin + documentCycle + place.deletesLong;
}

/** Documents that the schema comes with: also a database that nobody writes to has some to lose. */
export const firstDocuments: readonly OpId[] = [0, 1, 2].map((seq) => ({
  ...{ client: 'schema', connection: 0, session: 0, seq },
}));

/** Its bytes. Those of the first documents are the same in every run. */
export function documentBody(seed: string, { client, connection, session, seq }: OpId): Buffer {
  const name = JSON.stringify([client === 'schema' ? '' : seed, client, connection, session, seq]);
  return createHash('shake256', { outputLength: documentBytes }).update(name).digest();
}

/**
 * The ledger: what each operation says and how it is chained. Everything is a pure function of the
 * run's seed and the operation's ids, so a verifier knows what was sent without having seen it.
 */
/** Own accounts of each connection, so that connections never wait for each other's row locks. */
export const accountsPerConnection = 8;
/** Connections that one client can have (as the scenario allows). */
export const maxConnections = 64;
/** Balance of every account before the first transfer. */
export const initialBalance = 1000;
/** Every table that the workload writes, by its name within the database. */
export const workloadTables = ['ledger', 'account', 'document'] as const;
/** Every n-th operation of a session is a transfer, the others append one row. */
export const defaultTransferEvery = 8;

export const clientSides: readonly ClientSide[] = ['inside', 'outside'];

/** All accounts there are: ids 1 … accountCount. */
export const accountCount = clientSides.length * maxConnections * accountsPerConnection;

export type SessionId = Omit<OpId, 'seq'>;
export type OpContent = Pick<LedgerEntry, 'kind' | 'fromAccount' | 'toAccount' | 'amount'>;

/** One word for a session, to look it up by. */
export const sessionKey = ({ client, connection, session }: SessionId): string =>
  `${client}/${connection}/${session}`;

/** Lowest account id of a connection; it owns `accountsPerConnection` from there. */
export function firstAccount(client: string, connection: number): number {
  const side = clientSides.indexOf(client as ClientSide);
  return 1 + (side * maxConnections + connection) * accountsPerConnection;
}

/** What a session's operations say, by seq. `transferEvery` 0: appends only. */
export function sessionContents(
  seed: string,
  { client, connection, session }: SessionId,
  transferEvery: number = defaultTransferEvery,
): (seq: number) => OpContent {
  const key = key32(JSON.stringify([seed, 'content', client, connection, session]));
  const base = firstAccount(client, connection);
  return (seq) => {
    const draw = mix32(key, seq);
    const from = draw % accountsPerConnection;
    if (kindOf(seq, transferEvery) === 'append') {
      return { kind: 'append', fromAccount: base + from, toAccount: base + from, amount: 0 };
    }
    const step = 1 + ((draw >>> 8) % (accountsPerConnection - 1));
    const to = (from + step) % accountsPerConnection;
    const amount = 1 + ((draw >>> 16) % 10);
    return { kind: 'transfer', fromAccount: base + from, toAccount: base + to, amount };
  };
}

const kindOf = (seq: number, transferEvery: number): OpKind =>
  transferEvery > 0 && (seq + 1) % transferEvery === 0 ? 'transfer' : 'append';

/** previousHash of a session's first entry, SHA-256 (hex). */
export const originHash = (seed: string, { client, connection, session }: SessionId): string =>
  hash('sha256', JSON.stringify([seed, 'origin', client, connection, session]));

/**
 * SHA-256 (hex) of an entry: over its fields joined by `|`, previousHash first. In SQL:
 * `sha2(concat_ws('|', lower(hex(previous_hash)), client, connection, …, amount), 256)`.
 */
export function entryHash(entry: Omit<LedgerEntry, 'hash'>): string {
  const { previousHash, client, connection, session, seq } = entry;
  const { kind, fromAccount, toAccount, amount } = entry;
  return hash(
    'sha256',
    `${previousHash}|${client}|${connection}|${session}|${seq}|${kind}|${fromAccount}|${toAccount}|${amount}`,
  );
}

/** Builds one session's entries: each fits the last one that was acknowledged. */
export class Chain {
  readonly #id: SessionId;
  readonly #contents: (seq: number) => OpContent;
  #head: string;
  #seq = 0;

  constructor(seed: string, id: SessionId, transferEvery?: number) {
    this.#id = id;
    this.#contents = sessionContents(seed, id, transferEvery);
    this.#head = originHash(seed, id);
  }

  /** The next entry to send. Each call uses up a seq, whatever becomes of the operation. */
  next(): LedgerEntry {
    const { client, connection, session } = this.#id;
    const seq = this.#seq++;
    const { kind, fromAccount, toAccount, amount } = this.#contents(seq);
    const ids = { client, connection, session, seq };
    const unhashed = { ...ids, kind, fromAccount, toAccount, amount, previousHash: this.#head };
    return { ...unhashed, hash: entryHash(unhashed) };
  }

  /** The entry was acknowledged: the next one links to it. */
  acknowledge(entry: LedgerEntry): void {
    this.#head = entry.hash;
  }
}

/** Connections are below it: they are kept as two unsigned bytes. */
const connectionsEnd = 2 ** 16;

export class SessionMap<Value> {
  readonly #clients = new Map<string, Map<number, Value>>();

  get({ client, connection, session }: SessionId): Value | undefined {
    return this.#clients.get(client)?.get(session * connectionsEnd + connection);
  }

  /** What was set, or else what is made and set now. */
  getOrMake(id: SessionId, make: (id: SessionId) => Value): Value {
    const known = this.get(id);
    if (known !== undefined) return known;
    const made = make(id);
    this.set(id, made);
    return made;
  }

  set({ client, connection, session }: SessionId, value: Value): void {
    let ofClient = this.#clients.get(client);
    if (ofClient === undefined) this.#clients.set(client, (ofClient = new Map()));
    ofClient.set(session * connectionsEnd + connection, value);
  }

  /** All that were set, by client. */
  *values(): Generator<Value> {
    for (const ofClient of this.#clients.values()) yield* ofClient.values();
  }
}

/** One row of performance_schema.replication_group_members, by the member's node. */
const member = z.object({
  node: z.string(),
  state: z.enum(['ONLINE', 'RECOVERING', 'OFFLINE', 'ERROR', 'UNREACHABLE']),
  /** `` where the server that tells does not know. */
  role: z.enum(['PRIMARY', 'SECONDARY', '']),
});
export type Member = Readonly<z.output<typeof member>>;

/** What one server says at one moment. */
export const groupView = z.object({
  /** Whose view it is. */
  node: z.string(),
  members: z.array(member),
  superReadOnly: z.boolean(),
  offlineMode: z.boolean(),
});
export type GroupView = Readonly<z.output<typeof groupView>>;

export const selfIn = (view: GroupView): Member | undefined =>
  view.members.find(({ node }) => node === view.node);

/** The one who tells is in good order, and with most of those whom it counts as members. */
export function hasQuorum(view: GroupView): boolean {
  const present = view.members.filter(({ state }) => state === 'ONLINE' || state === 'RECOVERING');
  return selfIn(view)?.state === 'ONLINE' && present.length * 2 > view.members.length;
}

/** The primary of a view that has a quorum. */
const primaryIn = (view: GroupView): string | undefined =>
  hasQuorum(view)
    ? view.members.find(({ role, state }) => role === 'PRIMARY' && state === 'ONLINE')?.node
    : undefined;

/**
 * Where a router sends writes, given the views of all members that it reaches: to the primary that
 * most of the views with a quorum name. Undefined where none has one.
 */
export function routedPrimary(views: Iterable<GroupView>): string | undefined {
  const votes = new Map<string, number>();
  for (const view of views) {
    const primary = primaryIn(view);
    if (primary !== undefined) votes.set(primary, (votes.get(primary) ?? 0) + 1);
  }
  return [...votes].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}
