/** The inverse of line-encoder.ts: one frame's lines back to records, operations without JSON. */
import type { LedgerRow } from './evidence.ts';
import type { OpOutcome } from './workload/sql.ts';
import type { HistoryRecord, RowRecord } from './events.ts';
import type { Position } from './line-encoder.ts';
import { isRecord } from './record-shape.ts';

/** An operation's line, decoded into the same object again and again: copy what you keep. */
export interface OperationLine {
  atUs: number;
  /** The invoke's kind, or the outcome. */
  what: 'append' | 'transfer' | OpOutcome;
  connection: number;
  session: number;
  seq: number;
  error: string | undefined;
}

export interface LineSink {
  operation(line: OperationLine, client: string): void;
  row(row: LedgerRow): void;
  /** Every other record, and operations of a client that is not the segment's owner. */
  record(record: Exclude<HistoryRecord, RowRecord>): void;
}

/** Whoever wants one kind of line says what becomes of that. */
export const ignoring: LineSink = {
  operation: () => undefined,
  row: () => undefined,
  record: () => undefined,
};

const newline = 0x0a;
const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const zero = 0x30;
const bracket = 0x5b;
const closing = 0x5d;

const whatByCode: Readonly<Record<number, OperationLine['what']>> = {
  [0x61]: 'append',
  [0x66]: 'fail',
  [0x69]: 'info',
  [0x6b]: 'ok',
  [0x74]: 'transfer',
};

/** A line is no record. */
export class DamagedLineError extends Error {
  /** From 1, in the lines that were decoded. */
  readonly line: number;
  /** Where it begins in them. */
  readonly offset: number;

  constructor(line: number, offset: number, why: string) {
    super(why);
    this.line = line;
    this.offset = offset;
  }
}

/**
 * Decodes lines into the sink, the first `skip` records aside. Returns the number of records
 * decoded, those skipped included, and whether the end is a line without its newline. Throws
 * DamagedLineError.
 */
export function decodeLines(
  lines: Buffer,
  client: string | undefined,
  sink: LineSink,
  skip = 0,
): { readonly count: number; readonly cut: boolean } {
  const positions: Position[] = [];
  const operation: OperationLine = {
    atUs: 0,
    what: 'ok',
    connection: 0,
    session: 0,
    seq: 0,
    error: undefined,
  };
  let count = 0;
  for (let start = 0; start < lines.length; count++) {
    const end = lines.indexOf(newline, start);
    if (end === -1) return { count, cut: true };
    if (lines[start] === bracket) {
      // Skipped ones are decoded too: the times after them count on from theirs.
      if (!decodeOperation(lines, start, end, operation, positions)) {
        throw new DamagedLineError(count + 1, start, 'it is not an operation');
      }
      if (count >= skip) sink.operation(operation, client ?? '');
    } else if (count >= skip) {
      const value = parseLine(lines, start, end, count + 1);
      if ('row' in value) sink.row(toRow(value.row));
      else sink.record(value);
    }
    start = end + 1;
  }
  return { count, cut: false };
}

type JsonLine = { readonly row: RowValues } | Exclude<HistoryRecord, RowRecord>;

function parseLine(lines: Buffer, start: number, end: number, line: number): JsonLine {
  let value: unknown;
  try {
    value = JSON.parse(lines.toString('utf8', start, end));
  } catch (error) {
    throw new DamagedLineError(
      line,
      start,
      error instanceof Error ? error.message : 'it is not JSON',
    );
  }
  if (isRow(value) || isRecord(value)) return value;
  throw new DamagedLineError(line, start, 'it is not a record');
}

const isRow = (value: unknown): value is { readonly row: RowValues } =>
  typeof value === 'object' &&
  value !== null &&
  'row' in value &&
  Array.isArray(value.row) &&
  value.row.length === rowLength;

/** Reads numbers separated by commas; a cursor of its own, since this runs millions of times. */
let at = 0;

function readInteger(lines: Buffer): number {
  const negative = lines[at] === minus;
  if (negative) at += 1;
  let value = 0;
  for (let digit = digitAt(lines); digit >= 0 && digit <= 9; digit = digitAt(lines)) {
    value = value * 10 + digit;
    at += 1;
  }
  return negative ? -value : value;
}

const digitAt = (lines: Buffer): number => (lines[at] ?? 0) - zero;

/** Line: `[dt,"c",connection(,session,seq(,"error"))]`. False where it is none. */
function decodeOperation(
  lines: Buffer,
  start: number,
  end: number,
  operation: OperationLine,
  positions: Position[],
): boolean {
  at = start + 1;
  operation.atUs += readInteger(lines);
  const what = whatByCode[lines[at + 2] ?? 0];
  if (what === undefined || lines[at] !== comma || lines[end - 1] !== closing) return false;
  at += 5;
  const connection = readInteger(lines);
  let position = positions[connection];
  if (position === undefined) positions[connection] = position = { session: 0, seq: 0 };
  if (lines[at] === comma) {
    at += 1;
    position.session = readInteger(lines);
    at += 1;
    position.seq = readInteger(lines);
  } else if (what === 'append' || what === 'transfer') {
    position.seq += 1;
  }
  operation.error = undefined;
  if (lines[at] === comma && lines[at + 1] === quote) {
    const error = errorIn(lines.toString('utf8', at + 1, end - 1));
    if (error === undefined) return false;
    operation.error = error;
  } else if (at !== end - 1) return false;
  operation.what = what;
  operation.connection = connection;
  operation.session = position.session;
  operation.seq = position.seq;
  return true;
}

function errorIn(json: string): string | undefined {
  try {
    const error: unknown = JSON.parse(json);
    return typeof error === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}

const rowLength = 11;
/** Values that encodeRow writes. */
type RowValues = [
  id: number,
  kind: 'a' | 't',
  client: string,
  connection: number,
  session: number,
  seq: number,
  fromAccount: number,
  toAccount: number,
  amount: number,
  hashFits: number,
  linkFits: number,
];

function toRow(values: RowValues): LedgerRow {
  const [id, kind, client, connection, session, seq, fromAccount, toAccount, amount] = values;
  return {
    id,
    client,
    connection,
    session,
    seq,
    kind: kind === 'a' ? 'append' : 'transfer',
    fromAccount,
    toAccount,
    amount,
    hashFits: values[9] === 1,
    linkFits: values[10] === 1,
  };
}
