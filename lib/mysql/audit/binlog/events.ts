/**
 * Events of one file of MySQL's binary log, found and handed on as views of one buffer: the file is
 * read piece by piece, and what nobody needs is skipped. Layout: MySQL's "Binary Log Event" pages and
 * libs/mysql/binlog/event of its source.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Types that the audit reads. */
export const eventTypes = {
  query: 2,
  formatDescription: 15,
  xid: 16,
  tableMap: 19,
  writeRows: 30,
  gtid: 33,
  anonymousGtid: 34,
  xaPrepare: 38,
  taggedGtid: 42,
} as const;
const wanted = new Set<number>(Object.values(eventTypes));

const magic = Buffer.from([0xfe, 0x62, 0x69, 0x6e]);
const headerBytes = 19;
const pieceBytes = 4 * 2 ** 20;
const checksumBytes = 4;

/** `begin` … `end`: the event's body in `bytes`, without its header and checksum. */
export type OnEvent = (type: number, bytes: Buffer, begin: number, end: number) => void;

/** Resolves to why the file could not be read to its end; undefined where it could. */
export function readEvents(path: string, onEvent: OnEvent): string | undefined {
  const file = openSync(path, 'r');
  try {
    return new EventFile(file, fstatSync(file).size).read(onEvent);
  } finally {
    closeSync(file);
  }
}

const viewOf = ({ buffer, byteOffset, length }: Buffer): DataView =>
  new DataView(buffer, byteOffset, length);

class EventFile {
  readonly #file: number;
  readonly #size: number;
  #bytes = Buffer.allocUnsafe(pieceBytes);
  #view = viewOf(this.#bytes);
  /** Offset in the file of the buffer's first byte, and how many bytes of it are filled. */
  #offset = 0;
  #filled = 0;
  #checksum = 0;

  constructor(file: number, size: number) {
    this.#file = file;
    this.#size = size;
  }

  read(onEvent: OnEvent): string | undefined {
    if (this.#at(0, magic.length) !== 0 || this.#bytes.compare(magic, 0, 4, 0, 4) !== 0) {
      return 'it does not begin as a binary log';
    }
    let position = magic.length;
    while (position < this.#size) {
      const at = this.#at(position, headerBytes);
      if (at === undefined) return `it ends within an event at ${position}`;
      const view = this.#view;
      const type = view.getUint8(at + 4);
      const length = view.getUint32(at + 9, true);
      const next = position + length;
      // The position wraps in files above 4 GiB, which MySQL does not make.
      if (length < headerBytes || view.getUint32(at + 13, true) !== next >>> 0) {
        return `there is no event at ${position}`;
      }
      if (next > this.#size) return `it ends within an event at ${position}`;
      if (wanted.has(type)) this.#hand(type, position, length, onEvent);
      position = next;
    }
    return undefined;
  }

  #hand(type: number, position: number, length: number, onEvent: OnEvent): void {
    const at = this.#at(position, length);
    if (at === undefined) return;
    const bytes = this.#bytes;
    if (type === eventTypes.formatDescription) {
      // Its last byte before its checksum: whether the other events have one (1: CRC32).
      this.#checksum = bytes[at + length - checksumBytes - 1] === 1 ? checksumBytes : 0;
    }
    onEvent(type, bytes, at + headerBytes, at + length - this.#checksum);
  }

  /** Makes sure that so many bytes from this position are in the buffer; returns where. */
  #at(position: number, length: number): number | undefined {
    const at = position - this.#offset;
    if (at >= 0 && at + length <= this.#filled) return at;
    if (position + length > this.#size) return undefined;
    if (length > this.#bytes.length) {
      this.#bytes = Buffer.allocUnsafe(length);
      this.#view = viewOf(this.#bytes);
    }
    this.#offset = position;
    this.#filled = 0;
    while (this.#filled < length) {
      const { buffer, byteLength } = this.#bytes;
      const rest = new Uint8Array(
        buffer,
        this.#bytes.byteOffset + this.#filled,
        byteLength - this.#filled,
      );
      const read = readSync(this.#file, rest, 0, rest.length, position + this.#filled);
      if (read === 0) return undefined;
      this.#filled += read;
    }
    return 0;
  }
}
