/**
 * Checks each streamed ledger row by itself and against the row before it in its session.
 */
import { hash } from 'node:crypto';
import type { LedgerRow } from '../../checkers/evidence.ts';
import { originHash } from '../../workload/ledger.ts';
import { SessionMap } from '../../workload/session-map.ts';
import type { OpKind } from '../../workload/sql.ts';
import { ledgerPad } from '../schema.ts';
import { PacketRow } from './packet-row.ts';
import { SessionMixes, type SessionRows } from './session-mixes.ts';

/** To be asked for in this order. A row's hash is over those from client to amount (`entryHash`). */
export const ledgerColumns = [
  ...['id', 'previous_hash', 'client', 'connection', 'session', 'seq'],
  ...['kind', 'from_account', 'to_account', 'amount', 'hash', 'pad'],
] as const;

/** Place of each column among them. */
const place = {
  id: 0,
  previousHash: 1,
  client: 2,
  connection: 3,
  session: 4,
  seq: 5,
  kind: 6,
  fromAccount: 7,
  toAccount: 8,
  amount: 9,
  hash: 10,
  pad: 11,
} as const;

/** In the order of the column's ENUM. */
const kinds: readonly OpKind[] = ['append', 'transfer'];

/** Longer than a hash in hex and eight columns of 250 bytes. */
const hashedBytes = 4096;

export class RowVerifier {
  readonly #seed: string;
  /** Hash of the last row seen, by session; a character a byte. */
  readonly #heads = new SessionMap<string>();
  readonly #mixes = new SessionMixes();
  readonly #row = new PacketRow(ledgerColumns.length);
  /** What a row's hash is over, written anew for each, and views of it by their length. */
  readonly #hashed = Buffer.alloc(hashedBytes);
  readonly #views: Buffer[] = [];

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** The row whose packet has its columns from `start` on. Throws EvidenceError where it has none. */
  toRow(bytes: Buffer, start: number): LedgerRow {
    const row = this.#row;
    row.read(bytes, start);
    const client = row.word(place.client);
    const connection = row.number(place.connection);
    const session = row.number(place.session);
    const id = { client, connection, session };
    const head = this.#heads.get(id) ?? origin(this.#seed, id);
    const digest = this.#digest();
    const digestFits = row.is(place.hash, digest);
    this.#heads.set(id, digestFits ? digest : row.text(place.hash));
    const found: LedgerRow = {
      id: row.number(place.id),
      client,
      connection,
      session,
      seq: row.number(place.seq),
      kind: row.word(place.kind) as OpKind,
      fromAccount: row.number(place.fromAccount),
      toAccount: row.number(place.toAccount),
      amount: row.number(place.amount),
      hashFits: digestFits && row.is(place.pad, ledgerPad),
      linkFits: row.is(place.previousHash, head),
    };
    this.#mixes.add(
      id,
      found,
      kinds.indexOf(found.kind) + 1,
      row.folded(place.previousHash),
      row.folded(place.hash),
    );
    return found;
  }

  /** Sums of all rows so far, to be held against the binary log's. */
  sessions(): Record<string, SessionRows> {
    return this.#mixes.result();
  }

  /** SHA-256 of what the row says, a character a byte. */
  #digest(): string {
    const hashed = this.#hashed;
    const hexEnd = this.#row.writeHex(place.previousHash, hashed, 0);
    const end = this.#row.writeJoined(place.client, place.amount, hashed, hexEnd);
    return hash('sha256', (this.#views[end] ??= hashed.subarray(0, end)), 'binary');
  }
}

const origin = (seed: string, id: Parameters<typeof originHash>[1]): string =>
  Buffer.from(originHash(seed, id), 'hex').toString('latin1');
