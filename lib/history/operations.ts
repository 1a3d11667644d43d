/** Operations of one segment: each invoke with its outcome and the server that was asked. */
import type { OpId, OpKind, OpOutcome, ServerIdentity } from './workload/sql.ts';
import type { HistoryRecord } from './events.ts';
import type { OperationLine, LineSink } from './line-decoder.ts';
import { decodeChunk, type Chunk } from './chunk.ts';

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
  const ended: Operation[] = [];
  const pairing = new Pairing((operation) => ended.push(operation));
  for (const chunk of chunks) {
    decodeChunk(chunk, pairing);
    yield* ended.splice(0);
  }
  yield* pairing.underWay();
}

/** The same without a chunk's array of them: the audit has no memory for that. */
export function visitOperations(
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
