/**
 * The writer's hot path: one ledger row as a COM_STMT_EXECUTE packet, encoded in place. mysql2's
 * own execute, made for any statement, takes twice the time, and that time is the writer's rate:
 * `npm run bench -- writer`. Everything else of the protocol stays mysql2's.
 */
import type { Socket } from 'node:net';
import type { Connection, PrepareStatementInfo, QueryError } from 'mysql2';
import type { LedgerEntry } from '../history/index.ts';

/** In the order in which the packet has them. */
export const insertColumns =
  'client, connection, session, seq, kind, from_account, to_account, amount, previous_hash, hash';
export const insertStatement = `INSERT INTO ledger (${insertColumns}) VALUES (${Array.from({ length: 10 }, () => '?').join(', ')})`;

/**
 * The packet below has no room for query attributes, so the connection must not negotiate them
 * (a flag of createConnection).
 */
export const insertFlags: readonly string[] = ['-CLIENT_QUERY_ATTRIBUTES'];

/** Type and sign of each parameter (MySQL's protocol, "Binary Protocol Value"). */
const text = [0xfd, 0];
const short = [0x02, 0x80];
const long = [0x03, 0x80];
const binary = [0xfc, 0];
const parameterTypes = Buffer.from(
  [text, short, long, long, text, long, long, long, binary, binary].flat(),
);
const comStmtExecute = 0x17;
const headerBytes = 4;
const hashBytes = 32;

/** What mysql2 hands to a command and asks of it; not in its typings. */
interface Packet {
  isError(): boolean;
  asError(encoding: string): QueryError;
}
interface CommandHost {
  readonly clientEncoding: string;
  addCommand(command: InsertCommand): void;
  _resetSequenceId(): void;
  _bumpSequenceId(packets: number): void;
}
type Done = (error: QueryError | null) => void;

/** One insert at a time on one connection; the same object and buffer for all of them. */
export class InsertCommand {
  readonly #socket: Socket;
  readonly #host: CommandHost;
  readonly #statementId: number;
  readonly #bytes = Buffer.alloc(256);
  #length = 0;
  /** mysql2 calls it itself when the connection is lost. */
  onResult: Done = () => undefined;

  constructor(socket: Socket, connection: Connection, statement: PrepareStatementInfo) {
    this.#socket = socket;
    this.#host = connection as unknown as CommandHost;
    this.#statementId = (statement as unknown as { readonly id: number }).id;
  }

  send(entry: LedgerEntry, done: Done): void {
    this.#length = encodeInsert(this.#bytes, this.#statementId, entry);
    this.onResult = done;
    this.#host.addCommand(this);
  }

  /** mysql2's turn: first without a packet, to send; then with the answer. True when done. */
  execute(packet: Packet | undefined): boolean {
    if (packet === undefined) {
      this.#host._resetSequenceId();
      this.#host._bumpSequenceId(1);
      this.#socket.write(this.#bytes.subarray(0, this.#length));
      return false;
    }
    this.onResult(packet.isError() ? packet.asError(this.#host.clientEncoding) : null);
    return true;
  }
}

/** Writes header and packet; returns their size in bytes. */
export function encodeInsert(bytes: Buffer, statementId: number, entry: LedgerEntry): number {
  let at = headerBytes;
  at = bytes.writeUInt8(comStmtExecute, at);
  at = bytes.writeUInt32LE(statementId, at);
  at = bytes.writeUInt8(0, at); // no cursor
  at = bytes.writeUInt32LE(1, at); // one iteration
  at = bytes.writeUInt16LE(0, at); // no parameter is NULL
  at = bytes.writeUInt8(1, at); // types follow
  at += parameterTypes.copy(bytes, at);
  at = writeText(bytes, at, entry.client);
  at = bytes.writeUInt16LE(entry.connection, at);
  at = bytes.writeUInt32LE(entry.session, at);
  at = bytes.writeUInt32LE(entry.seq, at);
  at = writeText(bytes, at, entry.kind);
  at = bytes.writeUInt32LE(entry.fromAccount, at);
  at = bytes.writeUInt32LE(entry.toAccount, at);
  at = bytes.writeUInt32LE(entry.amount, at);
  at = writeHash(bytes, at, entry.previousHash);
  at = writeHash(bytes, at, entry.hash);
  bytes.writeUIntLE(at - headerBytes, 0, 3);
  bytes.writeUInt8(0, 3); // first packet of its command
  return at;
}

/** ASCII of less than 251 characters, so its length is one byte. */
function writeText(bytes: Buffer, at: number, value: string): number {
  const begin = bytes.writeUInt8(value.length, at);
  return begin + bytes.write(value, begin, 'latin1');
}

function writeHash(bytes: Buffer, at: number, hex: string): number {
  const begin = bytes.writeUInt8(hashBytes, at);
  return begin + bytes.write(hex, begin, 'hex');
}
