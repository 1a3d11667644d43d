/**
 * Operations in columns: how they are unpacked, found by time, and described.
 *
 * @import { OperationColumns, OperationsAbout } from '../types.ts'
 */

/** The lowest two bits of an operation's flags: its outcome's place here. */
export const outcomeCodes = /** @type {const} */ (['ok', 'fail', 'info']);
export const outcomeMask = 3;
/** `jump`: session and seq are said, since they do not follow from the one before. */
export const operationFlags = { transfer: 4, noEnd: 8, jump: 16 };

/**
 * The inverse of operation-pack.ts, after inflating.
 * @param {Uint8Array} bytes
 * @param {OperationsAbout} about
 * @returns {OperationColumns}
 */
export function unpackOperations(bytes, { count, firstUs, streams, errors }) {
  let at = 0;
  const read = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] ?? 0;
      if (byte < 128) return value + byte * scale;
      value += (byte - 128) * scale;
    }
  };
  const endUs = new Float64Array(count);
  for (let i = 0, us = firstUs; i < count; i++) endUs[i] = us += read();
  const latencyUs = new Float64Array(count);
  for (let i = 0; i < count; i++) latencyUs[i] = read();
  const stream = new Uint16Array(count);
  for (let i = 0; i < count; i++) stream[i] = read();
  const flags = new Uint8Array(count);
  for (let i = 0; i < count; i++) flags[i] = read();

  const session = new Uint32Array(count);
  const seq = new Uint32Array(count);
  const last = streams.map(() => ({ session: 0, seq: 0 }));
  for (let i = 0; i < count; i++) {
    const place = last[stream[i] ?? 0] ?? { session: 0, seq: 0 };
    const jumps = ((flags[i] ?? 0) & operationFlags.jump) !== 0;
    session[i] = place.session = jumps ? read() : place.session;
    seq[i] = place.seq = jumps ? read() : place.seq + 1;
    flags[i] = (flags[i] ?? 0) & ~operationFlags.jump;
  }
  const error = new Uint32Array(count);
  for (let i = 0; i < count; i++) if (((flags[i] ?? 0) & outcomeMask) !== 0) error[i] = read();
  return { endUs, latencyUs, stream, flags, session, seq, error, streams, errors };
}

/**
 * Index of the first operation that ended at that time or later.
 * @param {Float64Array} endUs
 * @param {number} us
 */
export function firstFrom(endUs, us) {
  let low = 0;
  let high = endUs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((endUs[middle] ?? 0) < us) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * All that is known of one operation, as text.
 * @param {OperationColumns} columns
 * @param {number} index
 */
export function describeOperation(columns, index) {
  const { endUs, latencyUs, stream, streams, flags, session, seq, error, errors } = columns;
  const { client = '', connection = 0, node = '' } = streams[stream[index] ?? 0] ?? {};
  const flag = flags[index] ?? 0;
  const outcome = outcomeCodes[/** @type {0 | 1 | 2} */ (flag & outcomeMask)];
  return {
    endS: (endUs[index] ?? 0) / 1e6,
    latencyMs: (latencyUs[index] ?? 0) / 1000,
    id: `${client}/${connection}/${session[index] ?? 0}/${seq[index] ?? 0}`,
    client,
    node,
    kind: (flag & operationFlags.transfer) === 0 ? 'append' : 'transfer',
    outcome: (flag & operationFlags.noEnd) === 0 ? outcome : 'no outcome on record',
    error: errors[error[index] ?? 0] ?? '',
  };
}
