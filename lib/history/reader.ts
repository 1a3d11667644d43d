/**
 * A run's history as it stands on disk, also while it is written and after a kill -9: records of
 * all segments merged in time order, operations, audited rows. Memory stays at a few frames.
 */
import { join } from 'node:path';
import type { LedgerRow } from '../checkers/evidence.ts';
import type { HistoryRecord, ImageLabel, RowRecord } from './events.ts';
import type { InvokeRecord, OutcomeRecord, ReadRecord, SessionRecord } from './client-records.ts';
import { decodeChunk, type Chunk } from './chunk.ts';
import type { LineSink, OperationLine } from './line-decoder.ts';
import type { Operation } from './operations.ts';
import type { OpOutcome } from '../workload/sql.ts';
import { otherFiles, rowsSegment } from './recorder.ts';
import {
  readSegment,
  salvageSegment,
  type HistoryCut,
  type SegmentSeal,
} from './segment-reader.ts';
import { openSegments, operationsOf, timedSegments, visitOperationsOf } from './segments.ts';
import { openWrites, type WriteLog } from './writes.ts';

export type { HistoryCut } from './segment-reader.ts';
export type { Operation } from './operations.ts';

/** Every record but operations and rows: few enough to hold. */
export type SmallRecord = Exclude<TimedRecord, InvokeRecord | OutcomeRecord>;
export type TimedRecord = Exclude<HistoryRecord, RowRecord>;

/** Of operations and of other records, as their segments have them. */
export type LineListener = Pick<LineSink, 'operation' | 'record'>;

export type Answer = SessionRecord | OutcomeRecord | ReadRecord;

export interface History {
  /** Where a segment ends within a write: a process was killed. Empty after an orderly end. */
  readonly cuts: readonly HistoryCut[];
  /** Of each segment, by name: what there is, and what its writer says of it. */
  readonly seals: ReadonlyMap<string, SegmentSeal>;
  /** Bytes of each other file of the history, by name. */
  readonly files: Readonly<Record<string, number>>;
  /** All records but rows, in time order. */
  records(): Generator<TimedRecord>;
  /** The same without operations; frames of operations alone are not even unpacked. */
  smallRecords(): Generator<SmallRecord>;
  /**
   * What clients were told, in time order: sessions, outcomes and reads. `heard` hears of each line on
   * the way, in the order of its segment.
   */
  answers(heard?: LineListener): Generator<Answer>;
  /** Each operation once, by segment and there in the order in which they ended. */
  ops(): Generator<Operation>;
  /** The same, one after the other: of millions, none is kept in memory. */
  visitOps(onOperation: (operation: Operation) => void): void;
  /** The ledger of an audited image, in primary key order; nothing where there was no audit. */
  rows(image: ImageLabel): Generator<LedgerRow>;
  /** What came to the disk; undefined where it kept no log. Throws EvidenceError where it is damaged. */
  writes(): WriteLog | undefined;
}

export interface ReadOptions {
  /**
   * Leaves out what is damaged, and with it all that only a whole history can be judged by: images,
   * their rows and the log of writes. Default: damage throws.
   */
  readonly salvage?: boolean;
}

/** `folder` is the run's. Throws EvidenceError where there is no history or it is damaged. */
export function openHistory(folder: string, { salvage = false }: ReadOptions = {}): History {
  const segments = openSegments(folder, salvage ? salvageSegment : readSegment);
  const chunks = timedSegments(segments).flatMap(({ chunks }) => chunks);
  return {
    cuts: [...segments.values()].flatMap(({ cuts }) => cuts),
    seals: segments,
    files: otherFiles(join(folder, 'history')),
    records: () => merge(chunks, readAll),
    smallRecords: () =>
      merge(
        chunks.filter(({ summary }) => summary.small > 0),
        salvage ? readWithoutImages : readSmall,
      ),
    answers: (heard) => merge(chunks, (chunk) => readAnswers(chunk, heard)),
    ops: () => operationsOf(segments),
    visitOps: (onOperation) => visitOperationsOf(segments, onOperation),
    *rows(image) {
      if (salvage) return;
      for (const chunk of segments.get(rowsSegment(image))?.chunks ?? []) yield* readRows(chunk);
    },
    writes: () => (salvage ? undefined : openWrites(folder)),
  };
}

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

function readAll(chunk: Chunk): TimedRecord[] {
  const records: TimedRecord[] = [];
  decodeChunk(chunk, {
    operation: (line, client) => records.push(operationRecord(line, client)),
    row: () => undefined,
    record: (record) => records.push(record),
  });
  return records;
}

function readSmall(chunk: Chunk): SmallRecord[] {
  const records: SmallRecord[] = [];
  decodeChunk(chunk, {
    operation: () => undefined,
    row: () => undefined,
    record: (record) => {
      if (record.type !== 'invoke' && record.type !== 'outcome') records.push(record);
    },
  });
  return records;
}

function readAnswers(chunk: Chunk, heard?: LineListener): Answer[] {
  const answers: Answer[] = [];
  decodeChunk(chunk, {
    operation: (line, client) => {
      heard?.operation(line, client);
      const { what } = line;
      if (what !== 'append' && what !== 'transfer') answers.push(outcomeRecord(line, what, client));
    },
    row: () => undefined,
    record: (record) => {
      heard?.record(record);
      const { type } = record;
      if (type === 'session' || type === 'outcome' || type === 'read') answers.push(record);
    },
  });
  return answers;
}

const readWithoutImages = (chunk: Chunk): SmallRecord[] =>
  readSmall(chunk).filter(({ type }) => type !== 'image');

function readRows(chunk: Chunk): LedgerRow[] {
  const rows: LedgerRow[] = [];
  const ignore = (): void => undefined;
  const sink = { operation: ignore, record: ignore, row: (row: LedgerRow) => rows.push(row) };
  decodeChunk(chunk, sink);
  return rows;
}

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
