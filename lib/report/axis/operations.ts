/**
 * Operations in columns: unpacked, found by time, described, and what the plots draw of a stretch of time. The
 * slowest commit and the longest pause of each interval are drawn, so no outlier and no gap is hidden however wide
 * the intervals are; near enough, each operation is a point of its own.
 */

/** A connection of a client to the database on one node. */
export interface OperationStream {
  readonly client: string;
  readonly connection: number;
  readonly node: string;
}

export interface OperationsAbout {
  readonly count: number;
  /** End of the first operation, µs after the fault. */
  readonly firstUs: number;
  readonly streams: readonly OperationStream[];
  /** Errors by number; the first is none. */
  readonly errors: readonly string[];
}

/** Operations in the order of their ends, one value each in every column. */
export interface OperationColumns extends Pick<OperationsAbout, 'streams' | 'errors'> {
  /** When the outcome was known, µs after the fault. */
  readonly endUs: Float64Array;
  /** From sent to known, µs. */
  readonly latencyUs: Float64Array;
  /** Number of the stream. */
  readonly stream: Uint16Array;
  readonly flags: Uint8Array;
  readonly session: Uint32Array;
  readonly seq: Uint32Array;
  /** Number of the error. */
  readonly error: Uint32Array;
}

/** The lowest two bits of an operation's flags: its outcome's place here. */
export const outcomeCodes = ['ok', 'fail', 'info'] as const;
export const outcomeMask = 3;
/** `jump`: session and seq do not follow from the operation before, and are written out. */
export const operationFlags = { transfer: 4, noEnd: 8, jump: 16 };

/** The inverse of `packOperations`, after inflating. */
export function unpackOperations(bytes: Uint8Array, about: OperationsAbout): OperationColumns {
  const { count, firstUs, streams, errors } = about;
  let at = 0;
  const read = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] ?? 0;
      if (byte < 128) return value + byte * scale;
      value += (byte - 128) * scale;
    }
  };
  const filled = <T extends Float64Array | Uint16Array | Uint8Array>(column: T): T => {
    for (let i = 0; i < count; i++) column[i] = read();
    return column;
  };
  const endUs = filled(new Float64Array(count));
  for (let i = 0, us = firstUs; i < count; i++) endUs[i] = us += endUs[i] ?? 0;
  const latencyUs = filled(new Float64Array(count));
  const stream = filled(new Uint16Array(count));
  const flags = filled(new Uint8Array(count));
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

/** Index of the first operation that ended at that time or later. */
function firstFrom(endUs: Float64Array, us: number): number {
  let low = 0;
  let high = endUs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((endUs[middle] ?? 0) < us) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface DescribedOperation {
  readonly endS: number;
  readonly latencyMs: number;
  readonly id: string;
  readonly client: string;
  readonly node: string;
  readonly kind: string;
  readonly outcome: string;
  readonly error: string;
}

export function describeOperation(columns: OperationColumns, index: number): DescribedOperation {
  const { endUs, latencyUs, stream, streams, flags, session, seq, error, errors } = columns;
  const { client = '', connection = 0, node = '' } = streams[stream[index] ?? 0] ?? {};
  const flag = flags[index] ?? 0;
  const outcome = outcomeCodes[(flag & outcomeMask) as 0 | 1 | 2];
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

/** Operations with what every view of them needs. */
export interface PreparedOperations {
  readonly columns: OperationColumns;
  readonly clients: readonly string[];
  /** Number of the client, by stream. */
  readonly clientOf: readonly number[];
  /** `client → node`, where anything was acknowledged. */
  readonly lines: readonly string[];
  /** Number of the line, by stream. */
  readonly lineOf: readonly number[];
  /** Time since the client's acknowledged operation before, µs. */
  readonly pauseUs: Float64Array;
  /** Each client's last acknowledgement, µs after the fault. */
  readonly lastUs: readonly number[];
}

export function prepareOperations(columns: OperationColumns): PreparedOperations {
  const { endUs, flags, stream, streams } = columns;
  const clients = [...new Set(streams.map(({ client }) => client))].toSorted();
  const clientOf = streams.map(({ client }) => clients.indexOf(client));
  const nameOf = streams.map(({ client, node }) => `${client} → ${node}`);
  const acknowledged = new Set<string | undefined>();
  const pauseUs = new Float64Array(endUs.length);
  const lastUs: number[] = [];
  for (let i = 0; i < endUs.length; i++) {
    if (((flags[i] ?? 0) & outcomeMask) !== 0) continue;
    const us = endUs[i] ?? 0;
    const client = clientOf[stream[i] ?? 0] ?? 0;
    acknowledged.add(nameOf[stream[i] ?? 0]);
    pauseUs[i] = us - (lastUs[client] ?? us);
    lastUs[client] = us;
  }
  const lines = [...new Set(nameOf)].filter((name) => acknowledged.has(name)).toSorted();
  const lineOf = nameOf.map((name) => lines.indexOf(name));
  return { columns, clients, clientOf, lines, lineOf, pauseUs, lastUs };
}

/** A line: points of [seconds after the fault, value]; null breaks it. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [number, number | null])[];
}

/** What the plots show of a stretch of time. */
export interface PlotData {
  /** Width of the intervals, seconds. */
  readonly widthS: number;
  /** Operations that ended in view: from, to (exclusive). */
  readonly inView: readonly [number, number];
  /** Acknowledged commits per second, by client and the node that acknowledged. */
  readonly rates: readonly Series[];
  /** Slowest acknowledged commit of each interval, ms. */
  readonly slowest: readonly Series[];
  /** Slowest of those that failed or whose outcome is unknown, by client, ms. */
  readonly troubles: readonly Series[];
  /** Longest time without an acknowledged commit that reaches into the interval, by client, ms. */
  readonly pauses: readonly Series[];
  /** Operations to draw one by one; null where they are too many. */
  readonly points: readonly number[] | null;
}

/** Widths of intervals to choose from, seconds. */
const widthsS = [1, 2, 5]
  .flatMap((n) => [n / 1e4, n / 1000, n / 100, n / 10, n, 10 * n, 100 * n])
  .toSorted((a, b) => a - b);
const mostBins = 600;
/** So many operations in view are drawn one by one. */
const mostPoints = 1000;
/** The latency axis is logarithmic; the model may answer at once. */
const leastMs = 0.001;

export function plotOperations(prepared: PreparedOperations, fromS: number, toS: number): PlotData {
  const { columns, clients, clientOf, lines, lineOf } = prepared;
  const { endUs, latencyUs, flags, stream } = columns;
  const widthS = widthsS.find((width) => (toS - fromS) / width <= mostBins) ?? 1000;
  const widthUs = widthS * 1e6;
  // Whole intervals, counted from the fault, so that the fault is always a border.
  const firstBin = Math.floor((fromS * 1e6) / widthUs);
  const bins = Math.floor((toS * 1e6) / widthUs) - firstBin + 1;
  const counts = lines.map(() => new Float64Array(bins));
  const slowestUs = lines.map(() => new Float64Array(bins).fill(-1));
  const troubleUs = clients.map(() => new Float64Array(bins).fill(-1));
  const begin = firstFrom(endUs, firstBin * widthUs);
  const end = firstFrom(endUs, (firstBin + bins) * widthUs);
  for (let i = begin; i < end; i++) {
    const bin = Math.floor((endUs[i] ?? 0) / widthUs) - firstBin;
    const ok = ((flags[i] ?? 0) & outcomeMask) === 0;
    const place = (ok ? lineOf : clientOf)[stream[i] ?? 0] ?? 0;
    const slowest = (ok ? slowestUs : troubleUs)[place];
    if (slowest !== undefined) slowest[bin] = Math.max(slowest[bin] ?? 0, latencyUs[i] ?? 0);
    const count = ok ? counts[place] : undefined;
    if (count !== undefined) count[bin] = (count[bin] ?? 0) + 1;
  }
  const series = (
    names: readonly string[],
    values: readonly Float64Array[],
    convert: (value: number) => number | null,
  ): Series[] =>
    names.map((name, index) => ({
      name,
      points: Array.from(values[index] ?? [], (value, bin) => [
        Math.round((firstBin + bin) * widthUs) / 1e6,
        convert(value),
      ]),
    }));
  // -1 stands for nothing: a gap stays a gap.
  const ms = (us: number): number | null => (us < 0 ? null : Math.max(us / 1000, leastMs));
  return {
    widthS,
    inView: [begin, end],
    rates: series(lines, counts, (count) => count / widthS),
    slowest: series(lines, slowestUs, ms),
    troubles: series(clients, troubleUs, ms),
    pauses: series(clients, longestPauses(prepared, firstBin, bins, widthUs), ms),
    points:
      end - begin > mostPoints ? null : Array.from({ length: end - begin }, (_, i) => begin + i),
  };
}

/** In µs; a pause that lasts until the end of the run counts up to there. */
function longestPauses(
  { columns, clients, clientOf, pauseUs, lastUs }: PreparedOperations,
  firstBin: number,
  bins: number,
  widthUs: number,
): Float64Array[] {
  const { endUs, flags, stream } = columns;
  const longest = clients.map(() => new Float64Array(bins).fill(-1));
  const mark = (client: number, fromUs: number, toUs: number): void => {
    const values = longest[client];
    if (values === undefined) return;
    const from = Math.max(Math.floor(fromUs / widthUs) - firstBin, 0);
    const to = Math.min(Math.floor(toUs / widthUs) - firstBin, bins - 1);
    for (let bin = from; bin <= to; bin++) values[bin] = Math.max(values[bin] ?? 0, toUs - fromUs);
  };
  // Past the view, until each client's next acknowledgement ends the pause before it.
  const waiting = new Set(clients.keys());
  const viewEndUs = (firstBin + bins) * widthUs;
  for (let i = firstFrom(endUs, firstBin * widthUs); i < endUs.length && waiting.size > 0; i++) {
    if (((flags[i] ?? 0) & outcomeMask) !== 0) continue;
    const client = clientOf[stream[i] ?? 0] ?? 0;
    const us = endUs[i] ?? 0;
    if (us >= viewEndUs && !waiting.delete(client)) continue;
    mark(client, us - (pauseUs[i] ?? 0), us);
  }
  const runEndUs = endUs.at(-1) ?? 0;
  for (const [client, us] of lastUs.entries()) {
    if (us !== undefined && us < runEndUs) mark(client, us, runEndUs);
  }
  return longest;
}
