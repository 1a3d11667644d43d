/** All operations of a run as columns, ordered by their ends: a million of them take 40 MB. */
import type { Operation } from '../history/operations.ts';
import { operationFlags, outcomeCodes } from './browser/operations.js';
import type { OperationColumns, OperationStream } from './types.ts';

interface Draft {
  readonly endMs: number[];
  readonly latencyMs: number[];
  readonly stream: number[];
  readonly flags: number[];
  readonly session: number[];
  readonly seq: number[];
  readonly error: number[];
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
  const draft: Draft = {
    endMs: [],
    latencyMs: [],
    stream: [],
    flags: [],
    session: [],
    seq: [],
    error: [],
  };
  for (const operation of operations) {
    const { client, connection, session, seq, sentAtMs, error = '' } = operation;
    const node = operation.server?.node ?? 'unknown node';
    const end = operation.endedAtMs ?? Math.max(endMs, sentAtMs);
    draft.endMs.push(end);
    draft.latencyMs.push(end - sentAtMs);
    draft.stream.push(
      streams.of(`${client}\n${connection}\n${node}`, () => ({ client, connection, node })),
    );
    draft.flags.push(flagsOf(operation));
    draft.session.push(session);
    draft.seq.push(seq);
    draft.error.push(error === '' ? 0 : errors.of(error, () => error));
  }
  return columnsOf(draft, zeroMs, { streams: streams.values, errors: errors.values });
}

const flagsOf = ({ kind, outcome, endedAtMs }: Operation): number =>
  outcomeCodes.indexOf(outcome) |
  (kind === 'transfer' ? operationFlags.transfer : 0) |
  (endedAtMs === undefined ? operationFlags.noEnd : 0);

/** Clients come one after the other, each in order: sorting merges a few long runs. */
function columnsOf(
  draft: Draft,
  zeroMs: number,
  names: Pick<OperationColumns, 'streams' | 'errors'>,
): OperationColumns {
  const order = draft.endMs.map((_, index) => index);
  const at = (column: readonly number[], index: number): number => column[index] ?? 0;
  order.sort((a, b) => at(draft.endMs, a) - at(draft.endMs, b));
  const us = (ms: number): number => Math.round(ms * 1000);
  return {
    ...names,
    endUs: Float64Array.from(order, (index) => us(at(draft.endMs, index) - zeroMs)),
    latencyUs: Float64Array.from(order, (index) => us(at(draft.latencyMs, index))),
    stream: Uint16Array.from(order, (index) => at(draft.stream, index)),
    flags: Uint8Array.from(order, (index) => at(draft.flags, index)),
    session: Uint32Array.from(order, (index) => at(draft.session, index)),
    seq: Uint32Array.from(order, (index) => at(draft.seq, index)),
    error: Uint32Array.from(order, (index) => at(draft.error, index)),
  };
}
