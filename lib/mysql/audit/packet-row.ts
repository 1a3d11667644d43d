/**
 * One row of a text result, read from the bytes as MySQL's protocol has them: each column's length,
 * then its text. A driver's values, an object or a text a column, cost more than a whole audit.
 */
import { EvidenceError } from '../../errors.ts';
import { foldHash } from './session-mixes.ts';

/** A length above it needs more bytes, or means NULL. */
const maxLength = 250;
const zero = '0'.charCodeAt(0);
/** Words of a column that are kept; a damaged one may have any number. */
const wordLimit = 16;

/** Moved from row to row by `read`. Columns are asked for by their place in the statement. */
export class PacketRow {
  #bytes: Buffer = Buffer.alloc(0);
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
    this.#bytes = bytes;
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

  /** A hash of 32 bytes in 32 bits. */
  folded(column: number): number {
    const begin = this.#begin(column);
    return foldHash(this.#bytes, begin, this.#end(column) - begin);
  }

  /** Writes a column's bytes in lower-case hex; returns where they end. */
  writeHex(column: number, into: Buffer, at: number): number {
    const end = this.#end(column);
    let to = at;
    for (let from = this.#begin(column); from < end; from++) {
      const byte = this.#bytes[from] ?? 0;
      into[to++] = hexDigits[byte >> 4] ?? 0;
      into[to++] = hexDigits[byte & 15] ?? 0;
    }
    return to;
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

const hexDigits = Buffer.from('0123456789abcdef');
const separator = '|'.charCodeAt(0);
