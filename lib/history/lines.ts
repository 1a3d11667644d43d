/** Records as lines of JSON, and lines as records. Operations, of which there are millions, are short arrays. */
import { z } from 'zod';
import { isObserved, observationOf, type Seen } from './observations.ts';
import { longestMs } from '../core/index.ts';
import { copyIdentitySchema, imageEvidenceSchema, type LedgerRow } from './evidence.ts';
import type {
  TimedRecord,
  HistoryRecord,
  InvokeRecord,
  OutcomeRecord,
  RowRecord,
  NoteRecord,
} from './records.ts';
import { type OpOutcome, maxConnections } from './workload.ts';

/**
 * Whether a value is of that kind. Numbers that something is allocated or looped by have bounds: a value
 * beyond them is damage. `number`: of the record in its segment, from 1 on.
 */
const kinds = {
  string: (value: unknown) => typeof value === 'string',
  moment: (value: unknown) => ['before', 'during', 'after'].includes(String(value)),
  image: (value: unknown) => ['steady', 'first', 'second'].includes(String(value)),
  number: (value: unknown) => typeof value === 'number',
  boolean: (value: unknown) => typeof value === 'boolean',
  object: isObject,
  time: (value: unknown) => isWithin(value, -longestRunMs, longestRunMs),
  wall: (value: unknown) => isWithin(value, 0, latestDateMs),
  connection: (value: unknown) => Number.isInteger(value) && isWithin(value, 0, maxConnections - 1),
  /** Sessions and their operations count up by one, and each has a record. */
  counter: (value: unknown, number: number) =>
    Number.isInteger(value) && isWithin(value, 0, number),
  plans: (value: unknown) => Array.isArray(value) && value.every((each) => isPlan(each)),
  seals: (value: unknown) => isObject(value) && Object.values(value).every(isSeal),
} as const satisfies Readonly<Record<string, (value: unknown, number: number) => boolean>>;
type Kind = keyof typeof kinds;
/** With a question mark: it may be absent. */
type FieldShape = Kind | `${Kind}?`;

/** Each wait of a scenario is a day at most, and there are fewer than 31 of them. */
export const longestRunMs = 31 * longestMs;
/** ECMA-262, Time Values. */
const latestDateMs = 8.64e15;

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const isWithin = (value: unknown, least: number, most: number): boolean =>
  typeof value === 'number' && value >= least && value <= most;

/** A client has as many connections as a scenario allows. */
const isPlan = (value: unknown): boolean => {
  const { connections } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return Number.isInteger(connections) && isWithin(connections, 0, maxConnections);
};

/** Before version 4 a file's was its size. */
const isSeal = (value: unknown): boolean => typeof value === 'number' || isObject(value);

/** Lists of each type the fields that every version wrote, and what else one may have. Rows have a form of their own. */
const shapes: { readonly [Type in TimedRecord['type']]: Readonly<Record<string, FieldShape>> } = {
  run: {
    ...{ runId: 'string', seed: 'string', backend: 'string', scenario: 'object' },
    ...{ replay: 'string', custom: 'object?' },
  },
  case: {
    ...{ seed: 'string', scenario: 'object', case: 'string', host: 'string' },
    ...{ cpus: 'number?', filesystem: 'string', repeat: 'number' },
  },
  setup: { timers: 'object?', versions: 'object', nodes: 'object', volume: 'object?' },
  phase: { phase: 'string' },
  session: {
    ...{ client: 'string', connection: 'connection', session: 'counter' },
    ...{ server: 'object?', error: 'string?' },
  },
  invoke: { client: 'string', connection: 'connection', session: 'counter', seq: 'counter' },
  outcome: {
    ...{ client: 'string', connection: 'connection', session: 'counter', seq: 'counter' },
    ...{ outcome: 'string', error: 'string?' },
  },
  'schema-change': {
    ...{ client: 'string', step: 'string', server: 'object?' },
    ...{ outcome: 'string?', error: 'string?' },
  },
  workload: { clients: 'plans' },
  'client-beat': { client: 'string', doing: 'string', done: 'object', last: 'boolean?' },
  copy: { image: 'image', made: 'object' },
  read: { client: 'string', server: 'object', sentAtMs: 'time', head: 'object?' },
  observation: { source: 'string', name: 'string', data: 'object', node: 'string?' },
  note: { source: 'string', name: 'string', data: 'object', node: 'string?' },
  action: {
    ...{ actor: 'string', name: 'string', step: 'string' },
    ...{ node: 'string?', detail: 'string?' },
  },
  certificate: {
    ...{ fault: 'string', moment: 'moment', claim: 'string', holds: 'boolean' },
    evidence: 'string?',
  },
  image: { image: 'image', takenAtMs: 'time', evidence: 'object' },
  machine: {
    ...{ timerLagMs: 'number', cpuPressure: 'number?', ioPressure: 'number?' },
    ...{ memoryPressure: 'number?', load: 'number?' },
  },
  error: { where: 'string', message: 'string' },
  segments: { segments: 'seals', files: 'seals' },
};
const fieldsOf = new Map<unknown, (readonly [string, Kind, boolean])[]>(
  Object.entries(shapes).map(([type, fields]) => [
    type,
    Object.entries<FieldShape>({ ...fields, t: 'time', wall: 'wall?' }).map(([name, field]) => [
      name,
      field.replace('?', '') as Kind,
      field.endsWith('?'),
    ]),
  ]),
);

/** What the few records with many parts hold. */
const nested = {
  copy: z.object({ made: copyIdentitySchema }),
  image: z.object({ evidence: imageEvidenceSchema }),
} as const satisfies { readonly [Type in TimedRecord['type']]?: z.ZodType };

/** `number`: of the record in its segment, from 1 on. Throws what says why it is none. */
export function recordOf(value: unknown, number: number): TimedRecord {
  if (typeof value !== 'object' || value === null || !('type' in value))
    throw new Error('it is not a record');
  const found = value as Readonly<Record<string, unknown>>;
  const fields = fieldsOf.get(value.type);
  if (fields === undefined) throw new Error('it is not a record');
  for (const [name, kind, optional] of fields) {
    const own = found[name];
    if (own === undefined ? optional : kinds[kind](own, number)) continue;
    throw new Error(
      `it is not a record: ${name} is ${JSON.stringify(own)?.slice(0, 80) ?? 'missing'}`,
    );
  }
  const within = nested[value.type as keyof typeof nested];
  if (within !== undefined) {
    const { error } = within.safeParse(value);
    if (error !== undefined) throw new Error(`it is not a record: ${z.prettifyError(error)}`);
  }
  if (found['type'] !== 'observation') return value as TimedRecord;
  // Before notes had a type of their own they were observations of a name that no observer gives.
  return isObserved(String(found['name']))
    ? observationOf(value as Seen)
    : ({ ...value, type: 'note' } as NoteRecord);
}

type OperationRecord = InvokeRecord | OutcomeRecord;

/** Where one connection is, as far as a frame has told. */
interface Position {
  session: number;
  seq: number;
}

/** What a reader may know of a frame without unpacking it. */
export interface FrameSummary {
  count: number;
  /** Records that are neither operations nor rows. */
  small: number;
  /** Earliest and latest time, microseconds; 0 where no record has one. */
  minUs: number;
  maxUs: number;
}

/**
 * Encodes the records of one frame, which can be read without the frames before it. Operations, of
 * which there are millions, become short arrays:
 *   [dt, "a" | "t", connection]                          an append or a transfer is sent
 *   [dt, "k", connection]                                it was acknowledged
 *   [dt, "f" | "i", connection, session, seq, error]     it failed, or nobody knows
 * dt: microseconds since the frame's operation before it (since 0 for the first). Session and seq
 * follow on `connection` only where they do not follow from the connection's line before it: an
 * invoke counts seq up by one, an outcome keeps it. Everything else is the record itself.
 */
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

export interface LinesAbout {
  /** Whose operations are encoded shortly. */
  readonly client: string | undefined;
  /** Number of the first record in its segment, from 0. */
  readonly first: number;
  /** The first records, which are left out. */
  readonly skip: number;
}

/**
 * Decodes lines into the sink. Returns the number of records decoded, those left out included, and
 * whether the end is a line without its newline. Throws DamagedLineError.
 */
export function decodeLines(
  lines: Buffer,
  { client, first, skip }: LinesAbout,
  sink: LineSink,
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
      const isWhole = decodeOperation(lines, start, end, operation, positions);
      if (!isWhole || !isBounded(operation, first + count + 1)) {
        throw new DamagedLineError(count + 1, start, 'it is not an operation');
      }
      if (count >= skip) sink.operation(operation, client ?? '');
    } else if (count >= skip) {
      const value = parseLine(lines, start, end, count + 1, first);
      if ('row' in value) sink.row(toRow(value.row));
      else sink.record(value);
    }
    start = end + 1;
  }
  return { count, cut: false };
}

type JsonLine = { readonly row: RowValues } | Exclude<HistoryRecord, RowRecord>;

/** As of a record of its own. */
const isBounded = ({ atUs, connection, session, seq }: OperationLine, number: number): boolean =>
  Math.abs(atUs) <= longestRunMs * 1000 &&
  connection >= 0 &&
  connection < maxConnections &&
  session >= 0 &&
  session <= number &&
  seq >= 0 &&
  seq <= number;

function parseLine(
  lines: Buffer,
  start: number,
  end: number,
  line: number,
  first: number,
): JsonLine {
  try {
    const value: unknown = JSON.parse(lines.toString('utf8', start, end));
    return isRow(value) ? value : recordOf(value, first + line);
  } catch (error) {
    throw new DamagedLineError(line, start, error instanceof Error ? error.message : String(error));
  }
}

const isRow = (value: unknown): value is { readonly row: RowValues } =>
  typeof value === 'object' &&
  value !== null &&
  'row' in value &&
  Array.isArray(value.row) &&
  value.row.length === rowLength &&
  value.row.every((each, place) =>
    place === 1 || place === 2 ? typeof each === 'string' : Number.isSafeInteger(each),
  );

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
