/** All operations of a run as columns, ordered by their ends: a million of them take 40 MB. */
import { deflateRawSync } from 'node:zlib';
import type { Operation } from '../history/index.ts';
import {
  operationFlags,
  outcomeCodes,
  outcomeMask,
  type OperationColumns,
  type OperationsAbout,
  type OperationStream,
} from './axis/operations.ts';

export interface PackedOperations {
  readonly about: OperationsAbout;
  /** Varints, deflated, in base64. */
  readonly packed: string;
}

/** Numbers for values in the order of their first appearance. */
class Numbered<T> {
  readonly values: T[] = [];
  readonly #numbers = new Map<string, number>();

  of(key: string, make: () => T): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.values.length);
    this.values.push(make());
    return this.values.length - 1;
  }
}

/**
 * `zeroMs`: the time that counts as 0, on the run's clock. An operation without an end is under way
 * until `endMs`.
 */
export function operationColumns(
  operations: Iterable<Operation>,
  zeroMs: number,
  endMs: number,
): OperationColumns {
  const streams = new Numbered<OperationStream>();
  const errors = new Numbered<string>();
  errors.of('', () => '');
  const [ends, latencies, streamOf]: [number[], number[], number[]] = [[], [], []];
  const [flags, sessions, seqs, errorOf]: [number[], number[], number[], number[]] = [
    [],
    [],
    [],
    [],
  ];
  for (const operation of operations) {
    const { client, connection, session, seq, sentAtMs, error = '' } = operation;
    const node = operation.server?.node ?? 'unknown node';
    const end = operation.endedAtMs ?? Math.max(endMs, sentAtMs);
    ends.push(end);
    latencies.push(end - sentAtMs);
    streamOf.push(
      streams.of(`${client}\n${connection}\n${node}`, () => ({ client, connection, node })),
    );
    flags.push(flagsOf(operation));
    sessions.push(session);
    seqs.push(seq);
    errorOf.push(error === '' ? 0 : errors.of(error, () => error));
  }
  // Clients come one after the other, each in order: sorting merges a few long runs.
  const order = ends.map((_, index) => index);
  order.sort((a, b) => (ends[a] ?? 0) - (ends[b] ?? 0));
  const count = order.length;
  const endUs = ordered(new Float64Array(count), ends, order);
  const latencyUs = ordered(new Float64Array(count), latencies, order);
  for (let i = 0; i < count; i++) {
    endUs[i] = Math.round(((endUs[i] ?? 0) - zeroMs) * 1000);
    latencyUs[i] = Math.round((latencyUs[i] ?? 0) * 1000);
  }
  return {
    ...{ streams: streams.values, errors: errors.values, endUs, latencyUs },
    stream: ordered(new Uint16Array(count), streamOf, order),
    flags: ordered(new Uint8Array(count), flags, order),
    session: ordered(new Uint32Array(count), sessions, order),
    seq: ordered(new Uint32Array(count), seqs, order),
    error: ordered(new Uint32Array(count), errorOf, order),
  };
}

const flagsOf = ({ kind, outcome, endedAtMs }: Operation): number =>
  outcomeCodes.indexOf(outcome) |
  (kind === 'transfer' ? operationFlags.transfer : 0) |
  (endedAtMs === undefined ? operationFlags.noEnd : 0);

/** Fills `column`; a loop, since `from` with a function takes ten times as long. */
function ordered<T extends Float64Array | Uint8Array | Uint16Array | Uint32Array>(
  column: T,
  values: readonly number[],
  order: readonly number[],
): T {
  for (let i = 0; i < order.length; i++) column[i] = values[order[i] ?? 0] ?? 0;
  return column;
}

/** Little-endian base 128: small numbers take a byte. */
class VarintWriter {
  #bytes = new Uint8Array(1 << 16);
  #used = 0;

  write(value: number): void {
    if (this.#used + 8 > this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#bytes.length);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    let rest = value;
    while (rest >= 128) {
      this.#bytes[this.#used++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#used++] = rest;
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#used);
  }
}

/**
 * One column after the other, since like compresses with like: time since the operation before it,
 * latency, stream, flags; then session and seq where they do not follow from the connection's
 * operation before; then errors of those that have none of the outcome ok.
 */
export function packOperations(columns: OperationColumns): PackedOperations {
  const { endUs, latencyUs, stream, streams, errors, error } = columns;
  const writer = new VarintWriter();
  const firstUs = endUs[0] ?? 0;
  let lastUs = firstUs;
  for (const us of endUs) {
    writer.write(us - lastUs);
    lastUs = us;
  }
  for (const us of latencyUs) writer.write(us);
  for (const number of stream) writer.write(number);
  const flags = withJumps(columns);
  for (const flag of flags) writer.write(flag);
  for (const [index, flag] of flags.entries()) {
    if ((flag & operationFlags.jump) === 0) continue;
    writer.write(columns.session[index] ?? 0);
    writer.write(columns.seq[index] ?? 0);
  }
  for (const [index, flag] of flags.entries()) {
    if ((flag & outcomeMask) !== 0) writer.write(error[index] ?? 0);
  }
  const packed = deflateRawSync(writer.bytes, { level: 4 }).toString('base64');
  return { about: { count: endUs.length, firstUs, streams, errors }, packed };
}

/** Flags that also say where a connection's session and seq do not simply go on. */
function withJumps({ stream, streams, flags, session, seq }: OperationColumns): Uint8Array {
  const next = streams.map(() => ({ session: -1, seq: -1 }));
  return flags.map((flag, index) => {
    const expected = next[stream[index] ?? 0];
    const now = { session: session[index] ?? 0, seq: seq[index] ?? 0 };
    const goesOn = expected?.session === now.session && expected.seq === now.seq;
    next[stream[index] ?? 0] = { session: now.session, seq: now.seq + 1 };
    return goesOn ? flag : flag | operationFlags.jump;
  });
}
