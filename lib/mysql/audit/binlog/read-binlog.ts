/** A server's binary log, all files of its index: its events, GTIDs, and the ledger's row of each transaction. */
import { closeSync, fstatSync, openSync, readSync, existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type SessionId, SessionMap } from '../../../history/index.ts';
import { foldHash, SessionMix, sessionRowsOf, type MixedRow, type SessionRows } from '../rows.ts';
import { GtidIntervals } from '../../gtid-set.ts';
import { databaseName } from '../../tables.ts';

/**
 * Events of one file of MySQL's binary log, found and handed on as views of one buffer: the file is
 * read piece by piece, and what nobody needs is skipped. Layout: MySQL's "Binary Log Event" pages and
 * libs/mysql/binlog/event of its source.
 */
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
type OnEvent = (type: number, bytes: Buffer, begin: number, end: number) => void;

/** Resolves to why the file could not be read to its end; undefined where it could. */
function readEvents(path: string, onEvent: OnEvent): string | undefined {
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

export interface BinlogRead {
  readonly files: readonly string[];
  readonly bytes: number;
  /** A GTID set as MySQL writes it. */
  readonly gtids: string;
  readonly duplicateGtids: number;
  readonly transactions: number;
  readonly sessions: Readonly<Record<string, SessionRows>>;
  /** Where a file is missing, cannot be read to its end, or has a transaction without an end. */
  readonly damage: readonly string[];
}

export const indexFile = 'binlog.index';

/** Throws where there is no index: the server keeps no binary log. */
export function readBinlog(dataDirectory: string): BinlogRead {
  const files = readFileSync(join(dataDirectory, indexFile), 'utf8').split('\n').filter(Boolean);
  const reading = new BinlogReading();
  const damage: string[] = [];
  for (const file of files) {
    const name = basename(file);
    const path = join(dataDirectory, name);
    const why = existsSync(path) ? reading.read(path) : 'it is in the index and not there';
    if (why !== undefined) damage.push(`${name}: ${why}`);
  }
  return { ...reading.result(), files: files.map((file) => basename(file)), damage };
}

/** Columns of the ledger, all NOT NULL, as its CREATE TABLE has them. */
const ledgerColumns = 12;
const uuidBytes = 16;

interface LoggedRow {
  readonly mix: SessionMix;
  readonly row: MixedRow;
  readonly kind: number;
  readonly previousHash: number;
  readonly hash: number;
}

const mixOf = (id: SessionId): SessionMix => new SessionMix(id);

class BinlogReading {
  readonly #gtids = new GtidIntervals();
  readonly #mixes = new SessionMap<SessionMix>();
  readonly #clients: { readonly text: string; readonly bytes: Buffer }[] = [];
  /** Number that the file gives the ledger; they change from file to file. */
  #ledger = -1;
  /** State of the transaction under way: it has its number, or its BEGIN too. */
  #open: 'no' | 'named' | 'begun' = 'no';
  #uuid = '';
  readonly #uuidBytes = Buffer.alloc(uuidBytes);
  #number = 0;
  #rows: LoggedRow[] = [];
  #transactions = 0;
  #bytes = 0;
  #unread: string | undefined;

  /** Resolves to what is wrong with the file. */
  read(path: string): string | undefined {
    this.#ledger = -1;
    this.#unread = undefined;
    const why = readEvents(path, (type, bytes, begin, end) => {
      this.#bytes += end - begin;
      this.#event(type, bytes, begin, end);
    });
    const unfinished = this.#open === 'no' ? undefined : 'its last transaction has no end';
    this.#abandon();
    return why ?? this.#unread ?? unfinished;
  }

  result(): Omit<BinlogRead, 'files' | 'damage'> {
    return {
      bytes: this.#bytes,
      ...this.#gtids.result(),
      transactions: this.#transactions,
      sessions: sessionRowsOf(this.#mixes.values()),
    };
  }

  #event(type: number, bytes: Buffer, begin: number, end: number): void {
    switch (type) {
      case eventTypes.gtid:
      case eventTypes.anonymousGtid:
        if (this.#open !== 'no') this.#unread ??= 'a transaction in it has no end';
        this.#abandon();
        this.#open = 'named';
        this.#number = 0;
        if (type === eventTypes.gtid) this.#named(bytes, begin);
        break;
      case eventTypes.taggedGtid:
        this.#unread ??= 'it has tagged GTIDs, which nobody here makes';
        break;
      case eventTypes.tableMap:
        if (isLedger(bytes, begin)) this.#ledger = bytes.readUIntLE(begin, 6);
        break;
      case eventTypes.writeRows:
        if (bytes.readUIntLE(begin, 6) === this.#ledger) this.#written(bytes, begin, end);
        break;
      case eventTypes.xid:
        this.#commit();
        break;
      case eventTypes.xaPrepare:
        // Its first byte: prepared and committed at once.
        this.#endWithoutRows(bytes[begin] === 1 ? undefined : 'is prepared');
        break;
      case eventTypes.query:
        this.#statement(bytes, statementAt(bytes, begin));
        break;
      default:
    }
  }

  /** Flags, then the server's UUID, then the number. */
  #named(bytes: Buffer, begin: number): void {
    const at = begin + 1;
    if (!isThere(this.#uuidBytes, bytes, at)) {
      bytes.copy(this.#uuidBytes, 0, at, at + uuidBytes);
      this.#uuid = this.#uuidBytes.toString('hex');
    }
    this.#number = bytes.readUIntLE(at + uuidBytes, 6);
  }

  /** Within a transaction, savepoints and the end of an XA one say nothing of what becomes of it. */
  #statement(bytes: Buffer, at: number): void {
    const is = (word: Buffer): boolean => isThere(word, bytes, at);
    if (this.#open === 'begun') {
      if (is(words.commit)) this.#commit();
      else if (is(words.rollback)) this.#endWithoutRows('is rolled back');
    } else if (is(words.begin) || is(words.xaStart)) this.#open = 'begun';
    // Whatever else comes as a statement is a transaction by itself.
    else this.#commit();
  }

  /** It has its number; what its rows came to is told elsewhere, if at all. */
  #endWithoutRows(why: string | undefined): void {
    if (why !== undefined && this.#rows.length > 0) {
      this.#unread ??= `a transaction with rows of the ledger ${why}, which nobody here makes`;
      this.#rows = [];
    }
    this.#commit();
  }

  #commit(): void {
    for (const { mix, row, kind, previousHash, hash } of this.#rows) {
      mix.add(row, kind, previousHash, hash);
    }
    if (this.#number > 0) this.#gtids.add(this.#uuid, this.#number);
    this.#transactions += 1;
    this.#abandon();
  }

  #abandon(): void {
    this.#open = 'no';
    if (this.#rows.length > 0) this.#rows = [];
  }

  /** Table's number (6), flags (2), length of what else (2), number of columns (1), which of them. */
  #written(bytes: Buffer, begin: number, end: number): void {
    const columnsAt = begin + 8 + bytes.readUInt16LE(begin + 8);
    const bitmapBytes = (ledgerColumns + 7) >> 3;
    if (bytes[columnsAt] !== ledgerColumns) {
      this.#unread ??= `a row of the ledger in it has ${bytes[columnsAt]} columns`;
      return;
    }
    let at = columnsAt + 1 + bitmapBytes;
    while (at < end) at = this.#row(bytes, at + bitmapBytes);
  }

  /** Returns where the next row begins. */
  #row(bytes: Buffer, begin: number): number {
    let at = begin;
    const id = bytes.readUIntLE(at, 6);
    at += 8;
    const client = this.#client(bytes, at);
    at += 1 + (bytes[at] ?? 0);
    const connection = bytes.readUInt16LE(at);
    const session = bytes.readUInt32LE(at + 2);
    const mix = this.#mixes.getOrMake({ client, connection, session }, mixOf);
    const row: MixedRow = {
      id,
      seq: bytes.readUInt32LE(at + 6),
      fromAccount: bytes.readUInt32LE(at + 11),
      toAccount: bytes.readUInt32LE(at + 15),
      amount: bytes.readUInt32LE(at + 19),
    };
    const kind = bytes[at + 10] ?? 0;
    at += 23;
    // A value's last bytes are left out where they are zero.
    const previousLength = bytes[at] ?? 0;
    const previousHash = foldHash(bytes, at + 1, previousLength);
    at += 1 + previousLength;
    const hashLength = bytes[at] ?? 0;
    const hash = foldHash(bytes, at + 1, hashLength);
    at += 1 + hashLength;
    this.#rows.push({ mix, row, kind, previousHash, hash });
    return at + 1 + (bytes[at] ?? 0);
  }

  /** There are few, and a text made for each row would cost more than the rest of it. */
  #client(bytes: Buffer, at: number): string {
    const end = at + 1 + (bytes[at] ?? 0);
    for (const known of this.#clients) if (isThere(known.bytes, bytes, at)) return known.text;
    const own = Buffer.from(bytes.subarray(at, end));
    const text = own.toString('latin1', 1);
    this.#clients.push({ text, bytes: own });
    return text;
  }
}

const words = {
  begin: Buffer.from('BEGIN'),
  commit: Buffer.from('COMMIT'),
  rollback: Buffer.from('ROLLBACK'),
  xaStart: Buffer.from('XA START'),
} as const;

/** Thread (4), duration (4), length of the schema's name (1), error (2), length of what else (2). */
const statementAt = (bytes: Buffer, begin: number): number =>
  begin + 13 + bytes.readUInt16LE(begin + 11) + (bytes[begin + 8] ?? 0) + 1;

const ledgerName = Buffer.from(
  `${String.fromCharCode(databaseName.length)}${databaseName}\0\x06ledger\0`,
);

/** Number (6) and flags (2), then each name behind its length and before a zero. */
const isLedger = (bytes: Buffer, begin: number): boolean => isThere(ledgerName, bytes, begin + 8);

/** Byte by byte: a call of the native comparison costs more than the few that differ. */
function isThere(expected: Buffer, bytes: Buffer, at: number): boolean {
  for (let n = 0; n < expected.length; n++) if (bytes[at + n] !== expected[n]) return false;
  return true;
}
