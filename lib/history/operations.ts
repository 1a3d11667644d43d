/** Operations of one segment: each invoke with its outcome and the server that was asked. */
import type { OpId, OpKind, OpOutcome, ServerIdentity } from '../workload/sql.ts';
import type { HistoryRecord } from './events.ts';
import { decodeLines, type OperationLine } from './line-decoder.ts';
import type { Chunk } from './segment-reader.ts';

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
export function* readOperations(chunks: readonly Chunk[]): Generator<Operation> {
  const pairing = new Pairing();
  for (const chunk of chunks) {
    decodeLines(chunk.lines(), chunk.client, pairing, chunk.skip);
    yield* pairing.takeEnded();
  }
  yield* pairing.underWay();
}

/** The same from records in time order. */
export function* pairOperations(records: Iterable<HistoryRecord>): Generator<Operation> {
  const pairing = new Pairing();
  for (const record of records) {
    pairing.record(record);
    yield* pairing.takeEnded();
  }
  yield* pairing.underWay();
}

/** One connection has one session and at most one operation under way. */
class Pairing {
  readonly #servers = new Map<string, ServerIdentity>();
  readonly #underWay = new Map<string, Operation>();
  #ended: Operation[] = [];

  operation(line: OperationLine, client: string): void {
    const key = keyOf(client, line.connection);
    if (line.what === 'append' || line.what === 'transfer') {
      this.#begin(key, line.what, line.atUs / 1000, { ...idOf(line), client });
    } else {
      this.#end(key, line.what, line.atUs / 1000, line.error);
    }
  }

  row(): void {
    // A ledger's row, not an operation.
  }

  record(record: HistoryRecord): void {
    if (record.type === 'session') {
      const key = keyOf(record.client, record.connection);
      if (record.server !== undefined) this.#servers.set(key, record.server);
    } else if (record.type === 'invoke') {
      const key = keyOf(record.client, record.connection);
      this.#begin(key, record.kind, record.t, { ...idOf(record), client: record.client });
    } else if (record.type === 'outcome') {
      this.#end(keyOf(record.client, record.connection), record.outcome, record.t, record.error);
    }
  }

  takeEnded(): Operation[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }

  underWay(): Iterable<Operation> {
    return this.#underWay.values();
  }

  #begin(key: string, kind: OpKind, sentAtMs: number, id: OpId): void {
    const server = this.#servers.get(key);
    const operation: Operation = { ...id, kind, sentAtMs, outcome: 'info' };
    this.#underWay.set(key, server === undefined ? operation : { ...operation, server });
  }

  #end(key: string, outcome: OpOutcome, endedAtMs: number, error: string | undefined): void {
    const operation = this.#underWay.get(key);
    if (operation === undefined) return;
    operation.outcome = outcome;
    operation.endedAtMs = endedAtMs;
    if (error !== undefined) operation.error = error;
    this.#underWay.delete(key);
    this.#ended.push(operation);
  }
}

const keyOf = (client: string, connection: number): string => `${client}/${connection}`;

function idOf({ connection, session, seq }: Omit<OpId, 'client'>): Omit<OpId, 'client'> {
  return { connection, session, seq };
}
