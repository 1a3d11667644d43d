/**
 * A run's history as it stands on disk, also while it is written and after a kill -9: records of
 * all segments merged in time order, operations, audited rows. Memory stays at a few frames.
 */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { EvidenceError, UsageError, sha256OfFile } from '../core/index.ts';
import type { LedgerRow, ImageLabel } from './evidence.ts';
import { type OperationLine, type LineSink, ignoring } from './lines.ts';
import { rowsSegment, runSegment } from './recorder.ts';
import type {
  FileSeal,
  HistoryRecord,
  SmallRecord,
  TimedRecord,
  InvokeRecord,
  OutcomeRecord,
  ReadRecord,
  SegmentCounts,
  SessionRecord,
} from './records.ts';
import {
  decodeChunk,
  type Chunk,
  readSegment,
  salvageSegment,
  type HistoryCut,
  type SegmentSeal,
  type SegmentContent,
} from './segment-reader.ts';
import { migrateRecord } from './migration.ts';
import { isSameFile, isSameSegment, listIn, otherFiles } from './seals.ts';
import { suffixes } from './segment.ts';
import type { OpId, OpKind, OpOutcome, ServerIdentity } from './workload.ts';
import { openWrites, type WriteLog, writesDamaged, writesFiles } from './writes.ts';

/** All that a history knows of one operation. */
export interface Operation extends OpId {
  readonly kind: OpKind;
  /** Milliseconds on the run's clock. */
  readonly sentAtMs: number;
  outcome: OpOutcome;
  /** When the outcome was known; absent where the history ends before it, which makes it `info`. */
  endedAtMs?: number;
  error?: string;
  readonly server?: ServerIdentity;
}

/** In the order in which they ended; those without an end come last. */
function* readOperations(chunks: readonly Chunk[]): Generator<Operation> {
  const ended: Operation[] = [];
  const pairing = new Pairing((operation) => ended.push(operation));
  for (const chunk of chunks) {
    decodeChunk(chunk, pairing);
    yield* ended.splice(0);
  }
  yield* pairing.underWay();
}

/** The same without a chunk's array of them: the audit has no memory for that. */
function visitOperations(
  chunks: readonly Chunk[],
  onOperation: (operation: Operation) => void,
): void {
  const pairing = new Pairing(onOperation);
  for (const chunk of chunks) decodeChunk(chunk, pairing);
  for (const operation of pairing.underWay()) onOperation(operation);
}

/** One connection has one session and at most one operation under way. */
interface PairedConnection {
  server: ServerIdentity | undefined;
  underWay: Operation | undefined;
}

/** Fed lines or records in their order; `onEnded` hears of each operation. */
export class Pairing implements LineSink {
  /** By client and number: looked up for each of millions of lines. */
  readonly #connections = new Map<string, PairedConnection[]>();
  readonly #onEnded: (operation: Operation) => void;

  constructor(onEnded: (operation: Operation) => void) {
    this.#onEnded = onEnded;
  }

  operation(line: OperationLine, client: string): void {
    const { what, atUs } = line;
    if (what === 'append' || what === 'transfer') {
      this.#begin(client, line, what, atUs / 1000);
    } else {
      this.#end(client, line, what, atUs / 1000);
    }
  }

  row(): void {
    // A ledger's row, not an operation.
  }

  record(record: HistoryRecord): void {
    if (record.type === 'session') {
      const { client, connection, server } = record;
      if (server !== undefined) this.#connection(client, connection).server = server;
    } else if (record.type === 'invoke') {
      this.#begin(record.client, record, record.kind, record.t);
    } else if (record.type === 'outcome') {
      this.#end(record.client, record, record.outcome, record.t);
    }
  }

  /** In the order in which they were sent. */
  underWay(): Operation[] {
    const all = [...this.#connections.values()].flat();
    const open = all.flatMap(({ underWay }) => underWay ?? []);
    return open.toSorted((a, b) => a.sentAtMs - b.sentAtMs);
  }

  #begin(client: string, id: Omit<OpId, 'client'>, kind: OpKind, sentAtMs: number): void {
    const { connection, session, seq } = id;
    const at = this.#connection(client, connection);
    const about = { client, connection, session, seq, kind, sentAtMs, outcome: 'info' } as const;
    at.underWay = at.server === undefined ? about : { ...about, server: at.server };
  }

  #end(client: string, ended: EndedOperation, outcome: OpOutcome, endedAtMs: number): void {
    const at = this.#connection(client, ended.connection);
    const operation = at.underWay;
    if (operation === undefined) return;
    operation.outcome = outcome;
    operation.endedAtMs = endedAtMs;
    if (ended.error !== undefined) operation.error = ended.error;
    at.underWay = undefined;
    this.#onEnded(operation);
  }

  #connection(client: string, connection: number): PairedConnection {
    let ofClient = this.#connections.get(client);
    if (ofClient === undefined) this.#connections.set(client, (ofClient = []));
    return (ofClient[connection] ??= { server: undefined, underWay: undefined });
  }
}

interface EndedOperation {
  readonly connection: number;
  readonly error?: string | undefined;
}

/** Hears operations and other records, as their segments have them. */
type LineListener = Pick<LineSink, 'operation' | 'record'>;

/** What a client was told. */
export type ClientAnswer = SessionRecord | OutcomeRecord | ReadRecord;

export interface History {
  /** Where a segment ends within a write: a process was killed. Empty after an orderly end. */
  readonly cuts: readonly HistoryCut[];
  /** Seals of each segment, by name: what there is, and what its writer says of it. */
  readonly seals: ReadonlyMap<string, SegmentSeal>;
  /** SHA-256 of run.hist, whose list seals all else. Undefined where the run came to no list. */
  readonly sha256: string | undefined;
  /** Every other file of the history, by name. */
  readonly files: Readonly<Record<string, FileSeal>>;
  /** All records but rows, in time order. */
  records(): Generator<TimedRecord>;
  /** The same without operations; frames of operations alone are not even unpacked. */
  smallRecords(): Generator<SmallRecord>;
  /**
   * What clients were told, in time order: sessions, outcomes and reads. `heard` hears of each line on
   * the way, in the order of its segment.
   */
  answers(heard?: LineListener): Generator<ClientAnswer>;
  /** Each operation once, by segment and there in the order in which they ended. */
  ops(): Generator<Operation>;
  /** The same, one after the other: of millions, none is kept in memory. */
  visitOps(onOperation: (operation: Operation) => void): void;
  /** The ledger of an audited image, in primary key order; nothing where there was no audit. */
  rows(image: ImageLabel): Generator<LedgerRow>;
  /** What came to the disk; undefined where it kept no log. Throws EvidenceError where it is damaged. */
  writes(): WriteLog | undefined;
}

interface ReadOptions {
  /**
   * Leaves out what is damaged, and with it all that only a whole history can be judged by: images,
   * their rows and the log of writes. Default: damage throws.
   */
  readonly salvage?: boolean;
}

/**
 * `folder` is the run's. Throws EvidenceError where there is no history or it is damaged. A file that is not
 * the one that the run listed is no evidence, neither of harm nor of its absence: nothing of it is read, and
 * its seal says why.
 */
export function openHistory(folder: string, { salvage = false }: ReadOptions = {}): History {
  const found = openSegments(folder, salvage ? salvageSegment : readSegment);
  const own = found.get(runSegment);
  const list = own && listIn(own);
  const segments = new Map(
    [...found].map(([name, content]) => [name, ownPart(content, list?.segments[name])]),
  );
  let hashed: History['files'] | undefined;
  const files = (): History['files'] =>
    (hashed ??= otherFiles(
      join(folder, 'history'),
      (name) => list?.files[name]?.sha256 !== undefined,
    ));
  const timed = timedSegments(segments);
  const chunks = timed.flatMap((segment) => segment.chunks);
  return {
    cuts: [...segments.values()].flatMap(({ cuts }) => cuts),
    seals: segments,
    get sha256() {
      return list && sha256OfFile(join(folder, 'history', runSegment + suffixes.frames));
    },
    get files() {
      return files();
    },
    records: () => merge(chunks, readAll),
    smallRecords: () =>
      merge(
        chunks.filter(({ summary }) => summary.small > 0),
        salvage ? readWithoutImages : readSmall,
      ),
    answers: (heard) => merge(chunks, (chunk) => readAnswers(chunk, heard)),
    *ops() {
      for (const segment of timed) yield* readOperations(segment.chunks);
    },
    visitOps(onOperation) {
      for (const segment of timed) visitOperations(segment.chunks, onOperation);
    },
    *rows(image) {
      if (salvage) return;
      for (const chunk of segments.get(rowsSegment(image))?.chunks ?? []) yield* readRows(chunk);
    },
    writes() {
      if (salvage) return undefined;
      const isStrange = (name: string): boolean =>
        list !== undefined && !isSameFile(files()[name], list.files[name]);
      const strange = Object.values(writesFiles).find(isStrange);
      if (strange === undefined) return openWrites(folder);
      throw writesDamaged(folder, `${strange} is not the file that the run listed`);
    },
  };
}

const ownPart = (content: SegmentContent, listed: SegmentCounts | undefined): SegmentContent =>
  listed === undefined || isSameSegment(content.counts, listed)
    ? content
    : { ...content, chunks: [] };

interface Cursor<T> {
  readonly records: readonly T[];
  at: number;
}

/** A chunk is opened when the merge reaches its earliest time, and let go of at its end. */
function* merge<T extends TimedRecord>(
  unordered: readonly Chunk[],
  read: (chunk: Chunk) => T[],
): Generator<T> {
  const chunks = unordered.toSorted((a, b) => a.summary.minUs - b.summary.minUs);
  const cursors: Cursor<T>[] = [];
  for (let next = 0; ; ) {
    let first = earliest(cursors);
    for (let chunk = chunks[next]; chunk !== undefined; chunk = chunks[++next]) {
      if (first !== undefined && chunk.summary.minUs / 1000 > first.record.t) break;
      cursors.push({ records: read(chunk).toSorted((a, b) => a.t - b.t), at: 0 });
      first = earliest(cursors);
    }
    if (first === undefined) return;
    const { cursor, record } = first;
    cursor.at += 1;
    if (cursor.at === cursor.records.length) cursors.splice(cursors.indexOf(cursor), 1);
    yield record;
  }
}

function earliest<T extends TimedRecord>(
  cursors: readonly Cursor<T>[],
): { readonly cursor: Cursor<T>; readonly record: T } | undefined {
  let found: { cursor: Cursor<T>; record: T } | undefined;
  for (const cursor of cursors) {
    const record = cursor.records[cursor.at];
    if (record === undefined) continue;
    if (found === undefined || record.t < found.record.t) found = { cursor, record };
  }
  return found;
}

function read<T>(chunk: Chunk, sinkOf: (found: T[]) => Partial<LineSink>): T[] {
  const found: T[] = [];
  decodeChunk(chunk, { ...ignoring, ...sinkOf(found) });
  return found;
}

const readAll = (chunk: Chunk): TimedRecord[] =>
  read(chunk, (found) => ({
    operation: (line, client) => found.push(operationRecord(line, client)),
    record: (record) => found.push(migrateRecord(record)),
  }));

const readSmall = (chunk: Chunk): SmallRecord[] =>
  read(chunk, (found) => ({
    record: (record) => {
      if (record.type !== 'invoke' && record.type !== 'outcome') found.push(migrateRecord(record));
    },
  }));

const readAnswers = (chunk: Chunk, heard?: LineListener): ClientAnswer[] =>
  read(chunk, (found) => ({
    operation: (line, client) => {
      heard?.operation(line, client);
      const { what } = line;
      if (what !== 'append' && what !== 'transfer') found.push(outcomeRecord(line, what, client));
    },
    record: (record) => {
      heard?.record(record);
      const { type } = record;
      if (type === 'session' || type === 'outcome' || type === 'read') found.push(record);
    },
  }));

const readWithoutImages = (chunk: Chunk): SmallRecord[] =>
  readSmall(chunk).filter(({ type }) => type !== 'image');

const readRows = (chunk: Chunk): LedgerRow[] =>
  read(chunk, (found) => ({ row: (row) => found.push(row) }));

function operationRecord(line: OperationLine, client: string): InvokeRecord | OutcomeRecord {
  const { atUs, what, connection, session, seq } = line;
  if (what !== 'append' && what !== 'transfer') return outcomeRecord(line, what, client);
  return { type: 'invoke', t: atUs / 1000, client, connection, session, seq, kind: what };
}

function outcomeRecord(line: OperationLine, outcome: OpOutcome, client: string): OutcomeRecord {
  const { atUs, connection, session, seq, error } = line;
  const about = { t: atUs / 1000, client, connection, session, seq };
  const record = { type: 'outcome', ...about, outcome } as const;
  return error === undefined || error === '' ? record : { ...record, error };
}

type Segments = ReadonlyMap<string, SegmentContent>;

/** `folder` is the run's. Throws UsageError `HISTORY_MISSING` where it has no history, and what `read` throws. */
function openSegments(
  folder: string,
  read: (directory: string, segment: string) => SegmentContent = readSegment,
): Segments {
  const directory = join(folder, 'history');
  if (!existsSync(directory) && !isLink(directory)) {
    throw new UsageError('HISTORY_MISSING', `there is no history in ${folder}`, {
      hint: 'give the folder of a run, which contains history/, or a certificate’s .json file',
    });
  }
  return new Map(namesIn(directory).map((name) => [name, read(directory, name)]));
}

/** One that leads nowhere is a damaged history, not a wrong folder. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** A tail without its frames is a segment too: its other file is missing. */
function namesIn(directory: string): string[] {
  const ends = Object.values(suffixes);
  const names = filesIn(directory).flatMap((file) => {
    const end = ends.find((each) => file.endsWith(each));
    return end === undefined ? [] : [file.slice(0, -end.length)];
  });
  return [...new Set(names)].toSorted();
}

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (cause) {
    throw new EvidenceError('HISTORY_DAMAGED', `${directory} can't be read`, { cause });
  }
}

/** Those whose records have times: all but the audited rows. */
const timedSegments = (segments: Segments): SegmentContent[] =>
  [...segments].filter(([name]) => !name.startsWith(rowsSegment(''))).map(([, segment]) => segment);
