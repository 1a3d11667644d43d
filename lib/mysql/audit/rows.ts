/** Each row of the ledger as the server sends it, checked by itself and against its session. */
import { hash } from 'node:crypto';
import { EvidenceError } from '../../core/index.ts';
import {
  type LedgerRow,
  sessionKey,
  type SessionId,
  originHash,
  SessionMap,
  type OpKind,
} from '../../history/index.ts';
import { ledgerPad } from '../schema.ts';

/**
 * By session: which operations a stream of ledger rows holds, and two numbers of 32 bits that are
 * over every value of each of them. The table gives one such stream and the binary log another, in
 * whatever order: the same rows give the same.
 */
/** Ranges of seqs, both ends inclusive, in the order in which they came. */
type RowRanges = readonly (readonly [from: number, to: number])[];

export interface SessionRows {
  readonly rows: RowRanges;
  /** Hexadecimal. */
  readonly mix: string;
}

/** What a row says, its hashes and its kind aside. */
export type MixedRow = Pick<LedgerRow, 'id' | 'seq' | 'fromAccount' | 'toAccount' | 'amount'>;

/** What one session's rows came to so far. */
export class SessionMix {
  readonly id: SessionId;
  readonly rows: [number, number][] = [];
  #low = 0;
  #high = 0;

  constructor(id: SessionId) {
    this.id = id;
  }

  /** `kind`: MySQL's number of it; the hashes as `foldHash` gives them. */
  add(row: MixedRow, kind: number, previousHash: number, hash: number): void {
    // Odd, and another one for each seq: so that what stands in another row counts as another value.
    const place = (row.seq << 1) | 1;
    this.#low ^= Math.imul(hash ^ Math.imul(row.id, 0x1b873593), place);
    const values =
      Math.imul(row.fromAccount, 0x165667b1) +
      Math.imul(row.toAccount, 0x19d699a5) +
      Math.imul(row.amount, 0x1f83d9ab) +
      kind;
    this.#high ^= Math.imul(previousHash ^ values, place);
    const last = this.rows.at(-1);
    if (last !== undefined && row.seq === last[1] + 1) last[1] = row.seq;
    else this.rows.push([row.seq, row.seq]);
  }

  /** Hexadecimal. */
  mix(): string {
    const mix = (BigInt(this.#high >>> 0) << 32n) | BigInt(this.#low >>> 0);
    return mix.toString(16).padStart(16, '0');
  }
}

/** By `sessionKey`, those that have rows. */
export function sessionRowsOf(mixes: Iterable<SessionMix>): Record<string, SessionRows> {
  const found: Record<string, SessionRows> = {};
  for (const each of mixes) {
    const { id, rows } = each;
    if (rows.length > 0) found[sessionKey(id)] = { rows, mix: each.mix() };
  }
  return found;
}

/** Exclusive or of the 32-bit words of `length` bytes from `at`; what is missing is zero. */
export function foldHash(bytes: Buffer, at: number, length: number): number {
  let folded = 0;
  let n = 0;
  for (; n + 4 <= length; n += 4) {
    const from = at + n;
    folded ^=
      (bytes[from] ?? 0) |
      ((bytes[from + 1] ?? 0) << 8) |
      ((bytes[from + 2] ?? 0) << 16) |
      ((bytes[from + 3] ?? 0) << 24);
  }
  for (let shift = 0; n < length; n++, shift += 8) folded ^= (bytes[at + n] ?? 0) << shift;
  return folded;
}

/**
 * One row of a text result, read from the bytes as MySQL's protocol has them: each column's length,
 * then its text. A driver's values, an object or a text a column, cost more than a whole audit.
 */
/** Bytes of a text that all rows are compared with, four at a time. */
class ExpectedText {
  readonly length: number;
  readonly #words: Int32Array;
  readonly #rest: Uint8Array;

  /** A character a byte. */
  constructor(text: string) {
    const bytes = Buffer.from(text, 'latin1');
    const { buffer, byteOffset, length } = bytes;
    const view = new DataView(buffer, byteOffset, length);
    this.length = length;
    this.#words = Int32Array.from({ length: length >> 2 }, (_, n) => view.getInt32(4 * n));
    this.#rest = bytes.subarray(length & ~3);
  }

  isAt(view: DataView, begin: number): boolean {
    const words = this.#words;
    for (let n = 0; n < words.length; n++) {
      if (view.getInt32(begin + 4 * n) !== words[n]) return false;
    }
    const rest = this.#rest;
    const restAt = begin + 4 * words.length;
    for (let n = 0; n < rest.length; n++) if (view.getUint8(restAt + n) !== rest[n]) return false;
    return true;
  }
}

/** A length above it needs more bytes, or means NULL. */
const maxLength = 250;
const zero = '0'.charCodeAt(0);
/** Words of a column that are kept; a damaged one may have any number. */
const wordLimit = 16;

/** Moved from row to row by `read`. Columns are asked for by their place in the statement. */
class PacketRow {
  #bytes: Buffer = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  readonly #begins: Int32Array;
  readonly #ends: Int32Array;
  readonly #words: string[][];

  constructor(columns: number) {
    this.#begins = new Int32Array(columns);
    this.#ends = new Int32Array(columns);
    this.#words = Array.from({ length: columns }, () => []);
  }

  /** The row begins at `start`. Throws EvidenceError where a column is NULL or of 251 bytes or more. */
  read(bytes: Buffer, start: number): void {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    let at = start;
    for (let column = 0; column < this.#begins.length; column++) {
      const length = bytes[at] ?? Number.NaN;
      if (!(length <= maxLength)) {
        throw new EvidenceError('ROW_UNREADABLE', `column ${column} has the length byte ${length}`);
      }
      this.#begins[column] = at + 1;
      this.#ends[column] = at += 1 + length;
    }
  }

  /** Value of an unsigned number, exact up to 2^53. */
  number(column: number): number {
    const bytes = this.#bytes;
    const end = this.#end(column);
    let value = 0;
    for (let at = this.#begin(column); at < end; at++) value = value * 10 + (bytes[at] ?? 0) - zero;
    return value;
  }

  /** Text of a column that has few different ones; a character a byte. */
  word(column: number): string {
    const known = this.#words[column] ?? [];
    for (const word of known) if (this.is(column, word)) return word;
    const word = this.text(column);
    if (known.length < wordLimit) known.push(word);
    return word;
  }

  /** A character a byte. */
  text(column: number): string {
    return this.#bytes.toString('latin1', this.#begin(column), this.#end(column));
  }

  /** Whether the column has this text, a character a byte. */
  is(column: number, text: string): boolean {
    const begin = this.#begin(column);
    if (this.#end(column) - begin !== text.length) return false;
    for (let n = 0; n < text.length; n++) {
      if (this.#bytes[begin + n] !== text.charCodeAt(n)) return false;
    }
    return true;
  }

  has(column: number, expected: ExpectedText): boolean {
    const begin = this.#begin(column);
    return this.#end(column) - begin === expected.length && expected.isAt(this.#view, begin);
  }

  /** A hash of 32 bytes in 32 bits. */
  folded(column: number): number {
    const begin = this.#begin(column);
    return foldHash(this.#bytes, begin, this.#end(column) - begin);
  }

  /** Writes a column's bytes in lower-case hex from the start of `into`, two digits each. */
  writeHex(column: number, into: Uint16Array): number {
    const bytes = this.#bytes;
    const begin = this.#begin(column);
    const length = this.#end(column) - begin;
    for (let n = 0; n < length; n++) into[n] = hexOfByte[bytes[begin + n] ?? 0] ?? 0;
    return 2 * length;
  }

  /** Writes `|` and the text of each column from the first to the last; returns where they end. */
  writeJoined(first: number, last: number, into: Buffer, at: number): number {
    const begin = this.#begin(first) - 1;
    const end = this.#end(last);
    // They stand behind each other as they are: only the length before each becomes its separator.
    for (let from = begin, to = at; from < end; from++, to++) into[to] = this.#bytes[from] ?? 0;
    for (let column = first; column <= last; column++) {
      into[at + this.#begin(column) - 1 - begin] = separator;
    }
    return at + end - begin;
  }

  #begin(column: number): number {
    return this.#begins[column] ?? 0;
  }

  #end(column: number): number {
    return this.#ends[column] ?? 0;
  }
}

const allBytes = Buffer.from(Uint8Array.from(Array(256).keys()));
/** Both digits of each byte, as they stand in memory. */
const hexOfByte = new Uint16Array(Uint8Array.from(Buffer.from(allBytes.toString('hex'))).buffer);
const separator = '|'.charCodeAt(0);

/** To be asked for in this order. A row's hash is over those from client to amount (`entryHash`). */
export const ledgerColumns = [
  ...['id', 'previous_hash', 'client', 'connection', 'session', 'seq'],
  ...['kind', 'from_account', 'to_account', 'amount', 'hash', 'pad'],
] as const;

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
