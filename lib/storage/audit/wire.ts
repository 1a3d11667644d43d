/**
 * How a database's audit tool in the lab talks to the auditor outside: one JSON value a line. Rows travel in
 * batches by column, as bytes: a million objects, or numbers as text, would cost more than reading
 * them from a database.
 */
import {
  type ImageEvidence,
  type LedgerRow,
  SessionMap,
  type OpKind,
} from '../../history/index.ts';

/** Rows in one line. */
export const batchRows = 1000;

interface RowsMessage {
  readonly type: 'rows';
  readonly count: number;
  /** Each session and kind that these rows name, by its number in the columns. */
  readonly sessions: readonly (readonly [client: string, connection: number, session: number])[];
  readonly kinds: readonly string[];
  /** Base64 of the columns of `columnsOf`, one behind the other. */
  readonly columns: string;
}

export type AuditMessage =
  | { readonly type: 'step'; readonly step: string }
  | RowsMessage
  | { readonly type: 'evidence'; readonly evidence: ImageEvidence };

const hashFits = 1;
const linkFits = 2;
/** What is left of a row's word beside those two: the number of its kind. */
const kindShift = 2;

const rowBytes = 28;

/** Views of one block of memory; the widest columns come first, so that each is aligned. */
function columnsOf(count: number) {
  const memory = new ArrayBuffer(count * rowBytes);
  return {
    bytes: Buffer.from(memory),
    id: new Float64Array(memory, 0, count),
    seq: new Uint32Array(memory, count * 8, count),
    fromAccount: new Uint32Array(memory, count * 12, count),
    toAccount: new Uint32Array(memory, count * 16, count),
    amount: new Uint32Array(memory, count * 20, count),
    session: new Uint16Array(memory, count * 24, count),
    kindAndFits: new Uint16Array(memory, count * 26, count),
  };
}

export function encodeRows(rows: readonly LedgerRow[]): RowsMessage {
  const columns = columnsOf(rows.length);
  const numbers = new SessionMap<number>();
  const sessions: RowsMessage['sessions'][number][] = [];
  const kinds: string[] = [];
  for (const [n, row] of rows.entries()) {
    let session = numbers.get(row);
    if (session === undefined) {
      session = sessions.push([row.client, row.connection, row.session]) - 1;
      numbers.set(row, session);
    }
    const fits = (row.hashFits ? hashFits : 0) | (row.linkFits ? linkFits : 0);
    columns.id[n] = row.id;
    columns.seq[n] = row.seq;
    columns.fromAccount[n] = row.fromAccount;
    columns.toAccount[n] = row.toAccount;
    columns.amount[n] = row.amount;
    columns.session[n] = session;
    columns.kindAndFits[n] = (numberOf(row.kind, kinds) << kindShift) | fits;
  }
  const count = rows.length;
  return { type: 'rows', count, sessions, kinds, columns: columns.bytes.toString('base64') };
}

/** Place of the word in the list, to which a new one is added. */
function numberOf(word: string, words: string[]): number {
  const number = words.indexOf(word);
  return number === -1 ? words.push(word) - 1 : number;
}

export function decodeRows(message: RowsMessage, onRow: (row: LedgerRow) => void): void {
  const { count, sessions, kinds } = message;
  const columns = columnsOf(count);
  columns.bytes.write(message.columns, 'base64');
  for (let n = 0; n < count; n++) {
    const kindAndFits = columns.kindAndFits[n] ?? 0;
    const [client, connection, session] = sessions[columns.session[n] ?? 0] ?? nobody;
    onRow({
      id: columns.id[n] ?? 0,
      client,
      connection,
      session,
      seq: columns.seq[n] ?? 0,
      kind: kinds[kindAndFits >> kindShift] as OpKind,
      fromAccount: columns.fromAccount[n] ?? 0,
      toAccount: columns.toAccount[n] ?? 0,
      amount: columns.amount[n] ?? 0,
      hashFits: (kindAndFits & hashFits) !== 0,
      linkFits: (kindAndFits & linkFits) !== 0,
    });
  }
}

const nobody = ['', 0, 0] as const;
