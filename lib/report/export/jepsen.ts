/**
 * A run's history in the words of Jepsen: operations with invocation and completion, as its checkers
 * and Elle read them. https://github.com/jepsen-io/elle (list-append), jepsen.tests.bank.
 */
import {
  type HistoryRecord,
  type ImageRecord,
  type History,
  type TimedRecord,
  sessionContents,
  sessionKey,
  type OpContent,
  type OpId,
} from '../../history/index.ts';

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
  /** `keys`: the sessions that had begun by then. */
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
  const naming = new Naming(words);
  for (const record of history.records()) {
    while (copies[0] !== undefined && copies[0].takenAtMs <= record.t) {
      yield naming.readBegins(copies[0]);
      copies.shift();
    }
    const op = naming.op(record);
    if (op !== undefined) yield op;
  }
  yield* naming.underWay();
}

const isReadable = (record: HistoryRecord): record is ImageRecord =>
  record.type === 'image' && record.evidence.ledgerComplete;

class Naming {
  readonly #words: OperationNames;
  readonly #processes = new Map<string, number>();
  readonly #contents = new Map<string, (seq: number) => OpContent>();
  /** Invocations without a completion, by process. */
  readonly #open = new Map<number, JepsenOp>();
  #seed = '';
  #index = 0;
  #lastMs = 0;

  constructor(words: OperationNames) {
    this.#words = words;
  }

  op(record: TimedRecord): JepsenOp | undefined {
    if (record.type === 'run') this.#seed = record.seed;
    if (record.type === 'invoke') return this.#invoke(record, record.t);
    if (record.type === 'outcome') {
      return this.#complete(this.#process(sessionKey(record)), record.outcome, record.t);
    }
    if (record.type !== 'image') return undefined;
    const process = this.#process(`image ${record.image}`);
    if (!this.#open.has(process)) return undefined;
    return this.#complete(process, 'ok', record.t, this.#words.found(record, this.#sessions()));
  }

  readBegins({ image, takenAtMs }: ImageRecord): JepsenOp {
    const { read, unread } = this.#words;
    return this.#begin(this.#process(`image ${image}`), read, unread(this.#sessions()), takenAtMs);
  }

  /** What never ended: its outcome is open. */
  underWay(): JepsenOp[] {
    return [...this.#open.keys()].flatMap(
      (process) => this.#complete(process, 'info', this.#lastMs) ?? [],
    );
  }

  #invoke(id: OpId, atMs: number): JepsenOp | undefined {
    const key = sessionKey(id);
    const content = this.#contents.get(key) ?? sessionContents(this.#seed, id);
    this.#contents.set(key, content);
    const value = this.#words.written(id, content(id.seq));
    const process = this.#process(key);
    return value === undefined ? undefined : this.#begin(process, this.#words.write, value, atMs);
  }

  #begin(process: number, f: JepsenOp['f'], value: OpValue, atMs: number): JepsenOp {
    const op = { ...this.#next(atMs), type: 'invoke', process, f, value } as const;
    this.#open.set(process, op);
    return op;
  }

  #complete(
    process: number,
    type: 'ok' | 'fail' | 'info',
    atMs: number,
    value?: OpValue,
  ): JepsenOp | undefined {
    const begun = this.#open.get(process);
    if (begun === undefined) return undefined;
    this.#open.delete(process);
    return { ...begun, ...this.#next(atMs), type, value: value ?? begun.value };
  }

  #next(atMs: number): Pick<JepsenOp, 'index' | 'time'> {
    this.#lastMs = atMs;
    return { index: this.#index++, time: Math.round(atMs * 1e6) };
  }

  #process(key: string): number {
    const process = this.#processes.get(key) ?? this.#processes.size;
    this.#processes.set(key, process);
    return process;
  }

  #sessions(): readonly string[] {
    return [...this.#contents.keys()];
  }
}
