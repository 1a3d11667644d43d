/**
 * Checks each streamed ledger row by itself and against the row before it in its session.
 */
import { hash } from 'node:crypto';
import {
  type LedgerRow,
  originHash,
  type SessionId,
  SessionMap,
  type OpKind,
} from '../../history/index.ts';
import { ledgerPad } from '../schema.ts';
import { ExpectedText, PacketRow } from './packet-row.ts';
import { SessionMix, sessionRowsOf, type SessionRows } from './session-mixes.ts';

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

const pad = new ExpectedText(ledgerPad);

/** Longer than a hash in hex and eight columns of 250 bytes. */
const hashedBytes = 4096;

/** What is known of a session from its rows so far. */
class Session {
  readonly id: SessionId;
  readonly mix: SessionMix;
  /** Hash of its last row, or what its first must link to; a character a byte. */
  head: string;

  constructor(id: SessionId, seed: string) {
    this.id = id;
    this.mix = new SessionMix(id);
    this.head = Buffer.from(originHash(seed, id), 'hex').toString('latin1');
  }
}

export class RowVerifier {
  readonly #begin: (id: SessionId) => Session;
  readonly #sessions = new SessionMap<Session>();
  readonly #row = new PacketRow(ledgerColumns.length);
  /** What a row's hash is over, written anew for each, and views of it by their length. */
  readonly #hashed = Buffer.from(new ArrayBuffer(hashedBytes));
  readonly #hexed = new Uint16Array(this.#hashed.buffer);
  readonly #views: Buffer[] = [];

  constructor(seed: string) {
    this.#begin = (id) => new Session(id, seed);
  }

  /** The row whose packet has its columns from `start` on. Throws EvidenceError where it has none. */
  toRow(bytes: Buffer, start: number): LedgerRow {
    const row = this.#row;
    row.read(bytes, start);
    const session = this.#sessionOf(row);
    const { client, connection, session: number } = session.id;
    const linkFits = row.is(place.previousHash, session.head);
    const digest = this.#digest();
    const digestFits = row.is(place.hash, digest);
    session.head = digestFits ? digest : row.text(place.hash);
    const found: LedgerRow = {
      id: row.number(place.id),
      client,
      connection,
      session: number,
      seq: row.number(place.seq),
      kind: row.word(place.kind) as OpKind,
      fromAccount: row.number(place.fromAccount),
      toAccount: row.number(place.toAccount),
      amount: row.number(place.amount),
      hashFits: digestFits && row.has(place.pad, pad),
      linkFits,
    };
    session.mix.add(
      found,
      kinds.indexOf(found.kind) + 1,
      row.folded(place.previousHash),
      row.folded(place.hash),
    );
    return found;
  }

  /** Sums of all rows so far, to be held against the binary log's. */
  sessions(): Record<string, SessionRows> {
    return sessionRowsOf([...this.#sessions.values()].map(({ mix }) => mix));
  }

  #sessionOf(row: PacketRow): Session {
    const client = row.word(place.client);
    const connection = row.number(place.connection);
    const session = row.number(place.session);
    return this.#sessions.getOrMake({ client, connection, session }, this.#begin);
  }

  /** SHA-256 of what the row says, a character a byte. */
  #digest(): string {
    const hashed = this.#hashed;
    const hexEnd = this.#row.writeHex(place.previousHash, this.#hexed);
    const end = this.#row.writeJoined(place.client, place.amount, hashed, hexEnd);
    return hash('sha256', (this.#views[end] ??= hashed.subarray(0, end)), 'binary');
  }
}
