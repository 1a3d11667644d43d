/**
 * How a database's audit tool in the lab talks to the auditor outside: one JSON value a line. Rows travel in
 * batches by column, as bytes: a million objects, or numbers as text, would cost more than reading
 * them from a database.
 */
import type { ImageEvidence, LedgerRow } from '../../checkers/evidence.ts';
import type { OpKind } from '../../workload/sql.ts';

/** Rows in one line. */
export const batchRows = 1000;

interface RowsMessage {
  readonly type: 'rows';
  readonly count: number;
  /** Each client and kind that these rows name, by its number in the columns. */
  readonly clients: readonly string[];
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

const rowBytes = 35;

/** Views of one block of memory; the widest columns come first, so that each is aligned. */
function columnsOf(count: number) {
  const memory = new ArrayBuffer(count * rowBytes);
  return {
    bytes: Buffer.from(memory),
    id: new Float64Array(memory, 0, count),
    session: new Uint32Array(memory, count * 8, count),
    seq: new Uint32Array(memory, count * 12, count),
    fromAccount: new Uint32Array(memory, count * 16, count),
    toAccount: new Uint32Array(memory, count * 20, count),
    amount: new Uint32Array(memory, count * 24, count),
    connection: new Uint16Array(memory, count * 28, count),
    client: new Uint16Array(memory, count * 30, count),
    kind: new Uint16Array(memory, count * 32, count),
    flags: new Uint8Array(memory, count * 34, count),
  };
}

export function encodeRows(rows: readonly LedgerRow[]): RowsMessage {
  const columns = columnsOf(rows.length);
  const clients: string[] = [];
  const kinds: string[] = [];
  for (const [n, row] of rows.entries()) {
    columns.id[n] = row.id;
    columns.session[n] = row.session;
    columns.seq[n] = row.seq;
    columns.fromAccount[n] = row.fromAccount;
    columns.toAccount[n] = row.toAccount;
    columns.amount[n] = row.amount;
    columns.connection[n] = row.connection;
    columns.client[n] = numberOf(row.client, clients);
    columns.kind[n] = numberOf(row.kind, kinds);
    columns.flags[n] = (row.hashFits ? hashFits : 0) | (row.linkFits ? linkFits : 0);
  }
  const count = rows.length;
  return { type: 'rows', count, clients, kinds, columns: columns.bytes.toString('base64') };
}

/** Place of the word in the list, to which a new one is added. */
function numberOf(word: string, words: string[]): number {
  const number = words.indexOf(word);
  return number === -1 ? words.push(word) - 1 : number;
}

export function decodeRows(message: RowsMessage, onRow: (row: LedgerRow) => void): void {
  const { count, clients, kinds } = message;
  const columns = columnsOf(count);
  columns.bytes.write(message.columns, 'base64');
  for (let n = 0; n < count; n++) {
    const flags = columns.flags[n] ?? 0;
    onRow({
      id: columns.id[n] ?? 0,
      client: clients[columns.client[n] ?? 0] ?? '',
      connection: columns.connection[n] ?? 0,
      session: columns.session[n] ?? 0,
      seq: columns.seq[n] ?? 0,
      kind: kinds[columns.kind[n] ?? 0] as OpKind,
      fromAccount: columns.fromAccount[n] ?? 0,
      toAccount: columns.toAccount[n] ?? 0,
      amount: columns.amount[n] ?? 0,
      hashFits: (flags & hashFits) !== 0,
      linkFits: (flags & linkFits) !== 0,
    });
  }
}
