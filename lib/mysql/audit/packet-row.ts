/**
 * One row of a text result, read from the bytes as MySQL's protocol has them: each column's length,
 * then its text. A driver's values, an object or a text a column, cost more than a whole audit.
 */
import { EvidenceError } from '../../core/index.ts';
import { foldHash } from './session-mixes.ts';

/** Bytes of a text that all rows are compared with, four at a time. */
export class ExpectedText {
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

  /** Whether these bytes stand at this place. */
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
export class PacketRow {
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

  /** Whether the column has this text. */
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
