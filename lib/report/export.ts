/**
 * A run's history in the words of Jepsen: operations with invocation and completion, as its checkers
 * and Elle read them. https://github.com/jepsen-io/elle (list-append), jepsen.tests.bank.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EvidenceError, OutputFile, writeOutput } from '../core/index.ts';
import {
  type History,
  type HistoryRecord,
  type ImageRecord,
  type OpContent,
  type OpId,
  sessionContents,
  sessionKey,
} from '../history/index.ts';
import { journalGaps, tellStory } from '../judge/index.ts';
import type { Database } from '../run/index.ts';

/** `append`: the n-th operation of a session is added to its list. `r`: a list, null in its invocation. */
export type MicroOp =
  | readonly ['append', string, number]
  | readonly ['r', string, readonly number[] | null];

export type OpValue =
  | readonly MicroOp[]
  | { readonly from: number; readonly to: number; readonly amount: number }
  | ReadonlyMap<number, number>
  | null;

export interface JepsenOp {
  readonly index: number;
  /** Nanoseconds since the run began. */
  readonly time: number;
  readonly type: 'invoke' | 'ok' | 'fail' | 'info';
  /** A session is a process: one whose outcome is unknown never acts again. */
  readonly process: number;
  readonly f: 'txn' | 'transfer' | 'read';
  readonly value: OpValue;
}

/** What one workload makes of an operation and of a copy of the volume. */
interface OperationNames {
  readonly read: JepsenOp['f'];
  readonly write: JepsenOp['f'];
  /** Undefined where the workload does not have the operation. */
  readonly written: (id: OpId, content: OpContent) => OpValue | undefined;
  readonly unread: (keys: readonly string[]) => OpValue;
  readonly found: (image: ImageRecord, keys: readonly string[]) => OpValue;
}

/** The ledger as lists, one a session; each copy of the volume is a read of all of them. */
export const listAppend = (history: History): Generator<JepsenOp> =>
  jepsenOps(history, {
    read: 'txn',
    write: 'txn',
    written: (id) => [['append', sessionKey(id), id.seq]],
    unread: (keys) => keys.map((key) => ['r', key, null] as const),
    found: ({ image }, keys) => {
      const lists = new Map<string, number[]>(keys.map((key) => [key, []]));
      for (const row of history.rows(image)) lists.get(sessionKey(row))?.push(row.seq);
      return [...lists].map(([key, list]) => ['r', key, list] as const);
    },
  });

/** The transfers, and each copy of the volume as a read of all balances. */
export const bank = (history: History): Generator<JepsenOp> =>
  jepsenOps(history, {
    read: 'read',
    write: 'transfer',
    written: (_, { kind, fromAccount: from, toAccount: to, amount }) =>
      kind === 'transfer' ? { from, to, amount } : undefined,
    unread: () => null,
    found: ({ evidence }) =>
      new Map(Object.entries(evidence.balances).map(([id, balance]) => [Number(id), balance])),
  });

/** In time order. A copy that could not be read to its end is no read. */
function* jepsenOps(history: History, words: OperationNames): Generator<JepsenOp> {
  const copies = [...history.smallRecords()].filter(isReadable);
  const processes = new Map<string, number>();
  const contents = new Map<string, (seq: number) => OpContent>();
  const open = new Map<number, JepsenOp>();
  let [seed, index, lastMs] = ['', 0, 0];
  const sessions = (): readonly string[] => [...contents.keys()];
  const processOf = (key: string): number => {
    const process = processes.get(key) ?? processes.size;
    processes.set(key, process);
    return process;
  };
  const next = (atMs: number): Pick<JepsenOp, 'index' | 'time'> => {
    lastMs = atMs;
    return { index: index++, time: Math.round(atMs * 1e6) };
  };
  const begin = (key: string, f: JepsenOp['f'], value: OpValue, atMs: number): JepsenOp => {
    const process = processOf(key);
    const op = { ...next(atMs), type: 'invoke', process, f, value } as const;
    open.set(process, op);
    return op;
  };
  /** Nothing where it was not begun. */
  function* complete(
    process: number,
    type: JepsenOp['type'],
    atMs: number,
    value?: () => OpValue,
  ): Generator<JepsenOp> {
    const begun = open.get(process);
    if (begun === undefined) return;
    open.delete(process);
    yield { ...begun, ...next(atMs), type, value: value?.() ?? begun.value };
  }
  for (const record of history.records()) {
    while (copies[0] !== undefined && copies[0].takenAtMs <= record.t) {
      const { image, takenAtMs } = copies[0];
      yield begin(`image ${image}`, words.read, words.unread(sessions()), takenAtMs);
      copies.shift();
    }
    if (record.type === 'run') seed = record.seed;
    if (record.type === 'invoke') {
      const key = sessionKey(record);
      const content = contents.get(key) ?? sessionContents(seed, record);
      contents.set(key, content);
      const value = words.written(record, content(record.seq));
      processOf(key);
      if (value !== undefined) yield begin(key, words.write, value, record.t);
    }
    if (record.type === 'outcome') {
      yield* complete(processOf(sessionKey(record)), record.outcome, record.t);
    }
    if (record.type === 'image') {
      const found = (): OpValue => words.found(record, sessions());
      yield* complete(processOf(`image ${record.image}`), 'ok', record.t, found);
    }
  }
  // What never ended: its outcome is open.
  for (const process of [...open.keys()]) yield* complete(process, 'info', lastMs);
}

const isReadable = (record: HistoryRecord): record is ImageRecord =>
  record.type === 'image' && record.evidence.ledgerComplete;

const workloads = { ledger: listAppend, bank } as const;

/** Beside the histories where they are not whole: why. */
const markFile = 'PARTIAL.txt';

export interface ExportOptions {
  readonly database: Database;
  /** Writes a history that is not whole all the same, and marks it. Default false. */
  readonly partial?: boolean;
}

/**
 * The files' paths. The same history gives the same bytes. Throws EvidenceError `HISTORY_CUT` where
 * it is not whole, unless `partial`: a checker would take what is missing for what never was.
 */
export function exportHistory(
  folder: string,
  history: History,
  { database, partial = false }: ExportOptions,
): string[] {
  const gaps = gapsOf(history, database);
  if (gaps.length > 0 && !partial) {
    throw new EvidenceError('HISTORY_CUT', `the history in ${folder} is incomplete: ${gaps[0]}`, {
      hint: '--partial exports what is there, marked as partial',
      again: ['--partial'],
    });
  }
  const into = join(folder, 'export');
  mkdirSync(into, { recursive: true });
  const mark = join(into, markFile);
  if (gaps.length === 0) rmSync(mark, { force: true });
  else writeOutput(mark, `${gaps.join('\n')}\n`);
  const written = Object.entries(workloads).flatMap(([name, ops]) => {
    using edn = new OutputFile(join(into, `${name}.edn`));
    using json = new OutputFile(join(into, `${name}.json`));
    json.add('[');
    for (const op of ops(history)) {
      edn.add(`${ednOf(op)}\n`);
      json.add(lineOf(op));
    }
    json.add('\n]\n');
    edn.commit();
    json.commit();
    return [edn.path, json.path];
  });
  return gaps.length === 0 ? written : [...written, mark];
}

/** Where it was cut short, or where a journal has not all that its writer wrote. */
function gapsOf(history: History, database: Database): string[] {
  const cuts = history.cuts.map(({ segment, within }) => `segment ${segment} is cut: ${within}`);
  const story = tellStory([...history.smallRecords()], database);
  return [...cuts, ...journalGaps(story, history).map(({ words }) => words)];
}

const lineOf = (op: JepsenOp): string => `${op.index === 0 ? '' : ','}\n${jsonOf(op)}`;

/** Jepsen's operations as text: EDN, a map a line, as Jepsen itself writes; or a JSON array. */
export const ednOf = ({ index, time, type, process, f, value }: JepsenOp): string =>
  `{:index ${index}, :time ${time}, :type :${type}, :process ${process}, ` +
  `:f :${f}, :value ${ednValue(value)}}`;

function ednValue(value: OpValue): string {
  if (value === null) return 'nil';
  if (isMap(value)) return `{${[...value].map(([id, balance]) => `${id} ${balance}`).join(', ')}}`;
  if ('from' in value) return `{:from ${value.from}, :to ${value.to}, :amount ${value.amount}}`;
  return `[${value.map(ednMicroOp).join(' ')}]`;
}

/** A session's key has no character that EDN and JSON quote differently. */
function ednMicroOp([f, key, value]: MicroOp): string {
  const list = typeof value === 'number' || value === null ? value : `[${value.join(' ')}]`;
  return `[:${f} ${JSON.stringify(key)} ${list ?? 'nil'}]`;
}

export const jsonOf = ({ value, ...op }: JepsenOp): string =>
  JSON.stringify({ ...op, value: isMap(value) ? Object.fromEntries(value) : value });

const isMap = (value: OpValue): value is ReadonlyMap<number, number> => value instanceof Map;
