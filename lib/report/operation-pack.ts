/** Columns of operations to text that the page carries; browser/operations.js unpacks it. */
import { deflateRawSync } from 'node:zlib';
import { operationFlags, outcomeMask } from './browser/operations.js';
import type { OperationColumns, PackedOperations } from './types.ts';

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
