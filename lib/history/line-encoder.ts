/**
 * Records as lines of JSON. Operations, of which there are millions, become short arrays:
 *   [dt, "a" | "t", connection]                          an append or a transfer is sent
 *   [dt, "k", connection]                                it was acknowledged
 *   [dt, "f" | "i", connection, session, seq, error]     it failed, or nobody knows
 * dt: microseconds since the frame's operation before it (since 0 for the first). Session and seq
 * follow on `connection` only where they do not follow from the connection's line before it: an
 * invoke counts seq up by one, an outcome keeps it. Everything else is the record itself.
 */
import type { LedgerRow } from './evidence.ts';
import type { HistoryRecord } from './events.ts';
import type { InvokeRecord, OutcomeRecord } from './client-records.ts';

export type OperationRecord = InvokeRecord | OutcomeRecord;

/** Where one connection is, as far as a frame has told. */
export interface Position {
  session: number;
  seq: number;
}

/** What a reader may know of a frame without unpacking it. */
export interface FrameSummary {
  /** Number of records. */
  count: number;
  /** Records that are neither operations nor rows. */
  small: number;
  /** Earliest and latest time, microseconds; 0 where no record has one. */
  minUs: number;
  maxUs: number;
}

/** Encodes the records of one frame, which can be read without the frames before it. */
export class LineEncoder {
  readonly #client: string | undefined;
  readonly #positions = new Map<number, Position>();
  #lastUs = 0;
  readonly summary: FrameSummary = { count: 0, small: 0, minUs: 0, maxUs: 0 };

  /** Operations of `client` become short arrays; those of others stay whole. */
  constructor(client: string | undefined) {
    this.#client = client;
  }

  /** One line, its newline included. */
  encode(record: HistoryRecord): string {
    const { type } = record;
    if (type === 'row') {
      this.summary.count += 1;
      return `${encodeRow(record.row)}\n`;
    }
    const atUs = Math.round(record.t * 1000);
    this.#count(atUs);
    if (type === 'invoke' || type === 'outcome') {
      if (record.client === this.#client) return this.#encodeOperation(record, atUs);
    } else {
      this.summary.small += 1;
    }
    return `${JSON.stringify(record)}\n`;
  }

  #count(atUs: number): void {
    const { summary } = this;
    summary.minUs = summary.count === 0 ? atUs : Math.min(summary.minUs, atUs);
    summary.maxUs = summary.count === 0 ? atUs : Math.max(summary.maxUs, atUs);
    summary.count += 1;
  }

  #encodeOperation(record: OperationRecord, atUs: number): string {
    const { connection, session, seq } = record;
    const dt = atUs - this.#lastUs;
    this.#lastUs = atUs;
    const last = this.#positions.get(connection);
    const expectedSeq = record.type === 'invoke' ? (last?.seq ?? 0) + 1 : last?.seq;
    const follows = last !== undefined && last.session === session && seq === expectedSeq;
    if (last === undefined) this.#positions.set(connection, { session, seq });
    else Object.assign(last, { session, seq });

    const code = operationCode(record);
    if (code === 'f' || code === 'i') {
      const error = record.type === 'outcome' ? (record.error ?? '') : '';
      return `[${dt},"${code}",${connection},${session},${seq},${JSON.stringify(error)}]\n`;
    }
    return follows
      ? `[${dt},"${code}",${connection}]\n`
      : `[${dt},"${code}",${connection},${session},${seq}]\n`;
  }
}

function operationCode(record: OperationRecord): 'a' | 't' | 'k' | 'f' | 'i' {
  if (record.type === 'invoke') return record.kind === 'append' ? 'a' : 't';
  if (record.outcome === 'ok') return 'k';
  return record.outcome === 'fail' ? 'f' : 'i';
}

/** The image is the segment's; the two judgements are 1 and 0. */
function encodeRow(row: LedgerRow): string {
  const { id, client, connection, session, seq, kind, fromAccount, toAccount, amount } = row;
  const fits = `${row.hashFits ? 1 : 0},${row.linkFits ? 1 : 0}`;
  const code = kind === 'append' ? 'a' : 't';
  const operation = `"${code}",${JSON.stringify(client)},${connection},${session},${seq}`;
  return `{"row":[${id},${operation},${fromAccount},${toAccount},${amount},${fits}]}`;
}
