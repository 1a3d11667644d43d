/**
 * The ledger: what each operation says and how it is chained. Everything is a pure function of the
 * run's seed and the operation's ids, so a verifier knows what was sent without having seen it.
 */
import { hash } from 'node:crypto';
import { key32, mix32 } from '../../core/index.ts';
import type { ClientSide, LedgerEntry, OpId, OpKind } from './sql.ts';

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
