/**
 * Operations in columns: packed for the page, found by time, described, and what the plots draw of a stretch of time.
 * The slowest commit and the longest pause of each interval are drawn, so no outlier and no gap is hidden however wide
 * the intervals are; near enough, each operation is a point of its own.
 */
import type { Operation } from '../../history/index.ts';

/** A connection of a client to the database on one node. */
interface OperationStream {
  readonly client: string;
  readonly connection: number;
  readonly node: string;
}

const columnNames = ['endUs', 'latencyUs', 'stream', 'flags', 'session', 'seq', 'error'] as const;
/**
 * Operations in the order of their ends, one value each in every column: a million take 60 MB. `endUs`: when the
 * outcome was known, µs after the fault; `latencyUs`: from sent to known; `stream` and `error`: their numbers.
 */
export type OperationColumns = Readonly<Record<(typeof columnNames)[number], Float64Array>> & {
  readonly streams: readonly OperationStream[];
  /** Errors by number; the first is none. */
  readonly errors: readonly string[];
};

/** What the page says of `bytes`, which hold the values. */
export type AboutOperations = Pick<OperationColumns, 'streams' | 'errors'> & {
  readonly count: number;
};
/**
 * As the page carries it: one column after the other, ends, sessions and numbers as differences, each value as
 * protobuf's `sint64` writes it. JSON of a million takes half a second of processor time longer to read.
 */
export interface PackedOperations {
  readonly about: AboutOperations;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export const outcomeCodes = ['ok', 'fail', 'info'] as const;
export const outcomeMask = 3;
const operationFlags = { transfer: 4, noEnd: 8 };

/** A column for each name, made in their order. */
const eachColumn = (
  { streams, errors }: Pick<OperationColumns, 'streams' | 'errors'>,
  make: (name: (typeof columnNames)[number]) => Float64Array,
): OperationColumns =>
  ({
    ...Object.fromEntries(columnNames.map((name) => [name, make(name)])),
    ...{ streams, errors },
  }) as unknown as OperationColumns;

/**
 * `zeroMs`: the time that counts as 0, on the run's clock. An operation without an end is under way
 * until `endMs`.
 */
export function operationColumns(
  operations: Iterable<Operation>,
  zeroMs: number,
  endMs: number,
): OperationColumns {
  const streams = new Map<string, number>();
  const errors = new Map([['', 0]]);
  const [endUs, latencyUs, stream, flags, session, seq, error] = columnNames.map(
    (): number[] => [],
  ) as [number[], number[], number[], number[], number[], number[], number[]];
  for (const operation of operations) {
    const { client, connection, sentAtMs } = operation;
    const node = operation.server?.node ?? 'unknown node';
    const end = operation.endedAtMs ?? Math.max(endMs, sentAtMs);
    const key = `${connection}\n${node}\n${client}`;
    const own = streams.get(key) ?? streams.size;
    streams.set(key, own);
    const why = operation.error ?? '';
    errors.set(why, errors.get(why) ?? errors.size);
    endUs.push(Math.round((end - zeroMs) * 1000));
    latencyUs.push(Math.round((end - sentAtMs) * 1000));
    stream.push(own);
    flags.push(flagsOf(operation));
    session.push(operation.session);
    seq.push(operation.seq);
    error.push(errors.get(why) ?? 0);
  }
  // Clients come one after the other, each in order: sorting merges a few long runs.
  const order = endUs
    .map((_, index) => index)
    .toSorted((a, b) => (endUs[a] ?? 0) - (endUs[b] ?? 0));
  const all = { endUs, latencyUs, stream, flags, session, seq, error };
  const about = {
    errors: [...errors.keys()],
    streams: [...streams.keys()].map((key) => {
      const [connection, node = '', client = ''] = key.split('\n');
      return { client, connection: Number(connection), node };
    }),
  };
  return eachColumn(about, (name) => {
    const values = all[name];
    const sorted = new Float64Array(order.length);
    // `from` with a function takes ten times as long.
    for (let i = 0; i < order.length; i++) sorted[i] = values[order[i] ?? 0] ?? 0;
    return sorted;
  });
}

const flagsOf = ({ kind, outcome, endedAtMs }: Operation): number =>
  outcomeCodes.indexOf(outcome) |
  (kind === 'transfer' ? operationFlags.transfer : 0) |
  (endedAtMs === undefined ? operationFlags.noEnd : 0);

/** Where a value follows from the one before, of all or of the same stream: its place there. */
const placeOf = (name: string, stream = 0): number | undefined =>
  name === 'endUs' ? 0 : name === 'session' || name === 'seq' ? stream : undefined;

/** No value takes more. */
const mostBytes = 8;

export function packOperations(columns: OperationColumns): PackedOperations {
  const { streams, errors, endUs, stream } = columns;
  const about = { streams, errors, count: endUs.length };
  const bytes = new Uint8Array(about.count * columnNames.length * mostBytes);
  let end = 0;
  for (const name of columnNames) {
    const last: number[] = [];
    for (const [i, value] of columns[name].entries()) {
      const place = placeOf(name, stream[i]);
      const change = place === undefined ? value : value - (last[place] ?? 0);
      if (place !== undefined) last[place] = value;
      let rest = change < 0 ? -2 * change - 1 : 2 * change;
      for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[end++] = (rest % 128) | 128;
      bytes[end++] = rest;
    }
  }
  return { about, bytes: bytes.subarray(0, end) };
}

/** The inverse of `packOperations`. */
export function unpackOperations({ about, bytes }: PackedOperations): OperationColumns {
  let at = 0;
  let stream = new Float64Array();
  return eachColumn(about, (name) => {
    const values = new Float64Array(about.count);
    at = readValues(bytes, at, values);
    if (name === 'stream') stream = values;
    if (placeOf(name) === undefined) return values;
    const last: number[] = [];
    for (let i = 0; i < values.length; i++) {
      const place = placeOf(name, stream[i]) ?? 0;
      values[i] = last[place] = (last[place] ?? 0) + (values[i] ?? 0);
    }
    return values;
  });
}

/** Fills `values` from place `at` on; returns the place behind them. */
function readValues(bytes: Uint8Array, at: number, values: Float64Array): number {
  for (let i = 0; i < values.length; i++) {
    let byte = bytes[at++] ?? 0;
    let value = byte & 127;
    for (let factor = 128; byte >= 128; factor *= 128) {
      byte = bytes[at++] ?? 0;
      value += (byte & 127) * factor;
    }
    values[i] = value % 2 === 0 ? value / 2 : (value + 1) / -2;
  }
  return at;
}

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

export function describeOperation(columns: OperationColumns, index: number) {
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

export type PreparedOperations = ReturnType<typeof prepareOperations>;

export function prepareOperations(columns: OperationColumns) {
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
  return {
    ...{ columns, clients },
    /** Number of the client, by stream. */
    clientOf,
    /** `client → node`, where anything was acknowledged. */
    lines,
    /** Number of the line, by stream. */
    lineOf,
    /** Time since the client's acknowledged operation before, µs. */
    pauseUs,
    /** Each client's last acknowledgement, µs after the fault. */
    lastUs: lastUs as readonly (number | undefined)[],
  };
}

/** A line: points of [seconds after the fault, value]; null breaks it. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [number, number | null])[];
}

export type PlotData = ReturnType<typeof plotOperations>;

/** Widths of intervals to choose from, seconds. */
const widthsS = [1, 2, 5]
  .flatMap((n) => [n / 1e4, n / 1000, n / 100, n / 10, n, 10 * n, 100 * n])
  .toSorted((a, b) => a - b);
const mostBins = 600;
/** So many operations in view are drawn one by one. */
const mostPoints = 1000;
/** The latency axis is logarithmic; the model may answer at once. */
const leastMs = 0.001;

export function plotOperations(prepared: PreparedOperations, fromS: number, toS: number) {
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
    /** Width of the intervals, seconds. */
    widthS,
    /** Operations that ended in view: from, to (exclusive). */
    inView: [begin, end] as readonly [number, number],
    /** Acknowledged commits per second, by client and the node that acknowledged. */
    rates: series(lines, counts, (count) => count / widthS),
    /** Slowest acknowledged commit of each interval, ms. */
    slowest: series(lines, slowestUs, ms),
    /** Slowest of those that failed or whose outcome is unknown, by client, ms. */
    troubles: series(clients, troubleUs, ms),
    /** Longest time without an acknowledged commit that reaches into the interval, by client, ms. */
    pauses: series(clients, longestPauses(prepared, firstBin, bins, widthUs), ms),
    /** Operations to draw one by one; null where they are too many. */
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
