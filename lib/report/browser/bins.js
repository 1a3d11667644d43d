/**
 * What the plots draw of the operations in a stretch of time: rates, the slowest of each interval,
 * the longest pause. A slowest and a longest stay in sight however wide the intervals are, so no
 * outlier and no gap is hidden; near enough, each operation is a point of its own.
 *
 * @import { OperationColumns, PlotData, PreparedOperations, Series } from '../types.ts'
 */
import { firstFrom, outcomeMask } from './operations.js';

/** Widths of intervals to choose from, seconds. */
const widthsS = [1, 2, 5].flatMap((n) => [n / 1e4, n / 1000, n / 100, n / 10, n, 10 * n, 100 * n]);
widthsS.sort((a, b) => a - b);
const mostBins = 600;
/** So many operations in view are drawn one by one. */
const mostPoints = 1000;
/** The latency axis is logarithmic; the model may answer at once. */
const leastMs = 0.001;

/**
 * What every view needs, found once: the lines to draw, and each client's pauses.
 * @param {OperationColumns} columns
 * @returns {PreparedOperations}
 */
export function prepareOperations(columns) {
  const { endUs, flags, stream, streams } = columns;
  const clients = [...new Set(streams.map(({ client }) => client))].toSorted();
  const clientOf = streams.map(({ client }) => clients.indexOf(client));
  const nameOf = streams.map(({ client, node }) => `${client} → ${node}`);
  const seen = new Set();
  const pauseUs = new Float64Array(endUs.length);
  /** @type {number[]} */
  const lastUs = [];
  for (let i = 0; i < endUs.length; i++) {
    if (((flags[i] ?? 0) & outcomeMask) !== 0) continue;
    const us = endUs[i] ?? 0;
    const client = clientOf[stream[i] ?? 0] ?? 0;
    seen.add(nameOf[stream[i] ?? 0]);
    pauseUs[i] = us - (lastUs[client] ?? us);
    lastUs[client] = us;
  }
  const lines = [...new Set(nameOf)].filter((name) => seen.has(name)).toSorted();
  const lineOf = nameOf.map((name) => lines.indexOf(name));
  return { columns, clients, clientOf, lines, lineOf, pauseUs, lastUs };
}

/**
 * Interval width for a view: the first that keeps a line short enough.
 * @param {number} spanS
 */
const widthFor = (spanS) => widthsS.find((width) => spanS / width <= mostBins) ?? 1000;

/**
 * @param {PreparedOperations} prepared
 * @param {number} fromS
 * @param {number} toS
 * @returns {PlotData}
 */
export function plotOperations(prepared, fromS, toS) {
  const { columns, clients, clientOf, lines, lineOf } = prepared;
  const { endUs, latencyUs, flags, stream } = columns;
  const widthS = widthFor(toS - fromS);
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
    const us = latencyUs[i] ?? 0;
    const ok = ((flags[i] ?? 0) & outcomeMask) === 0;
    const place = (ok ? lineOf : clientOf)[stream[i] ?? 0] ?? 0;
    const slowest = (ok ? slowestUs : troubleUs)[place];
    if (slowest !== undefined) slowest[bin] = Math.max(slowest[bin] ?? 0, us);
    const count = ok ? counts[place] : undefined;
    if (count !== undefined) count[bin] = (count[bin] ?? 0) + 1;
  }
  const atS = (/** @type {number} */ bin) => Math.round((firstBin + bin) * widthUs) / 1e6;
  return {
    widthS,
    inView: [begin, end],
    rates: toSeries(lines, counts, atS, (count) => count / widthS),
    slowest: toSeries(lines, slowestUs, atS, milliseconds),
    troubles: toSeries(clients, troubleUs, atS, milliseconds),
    pauses: toSeries(clients, longestPauses(prepared, firstBin, bins, widthUs), atS, milliseconds),
    points: end - begin > mostPoints ? null : range(begin, end),
  };
}

/** -1 stands for nothing: a gap stays a gap. */
const milliseconds = (/** @type {number} */ us) => (us < 0 ? null : Math.max(us / 1000, leastMs));

const range = (/** @type {number} */ from, /** @type {number} */ to) =>
  Array.from({ length: to - from }, (_, index) => from + index);

/**
 * @param {readonly string[]} names
 * @param {readonly Float64Array[]} values  one a name, one value a bin
 * @param {(bin: number) => number} atS
 * @param {(value: number) => number | null} convert
 * @returns {Series[]}
 */
function toSeries(names, values, atS, convert) {
  return names.map((name, index) => ({
    name,
    points: Array.from(values[index] ?? [], (value, bin) => [atS(bin), convert(value)]),
  }));
}

/**
 * For each client and interval the longest time without an acknowledged commit that reaches into it,
 * µs. A pause that lasts until the end of the run counts up to there.
 * @param {PreparedOperations} prepared
 * @param {number} firstBin
 * @param {number} bins
 * @param {number} widthUs
 */
function longestPauses({ columns, clients, clientOf, pauseUs, lastUs }, firstBin, bins, widthUs) {
  const { endUs, flags, stream } = columns;
  const longest = clients.map(() => new Float64Array(bins).fill(-1));
  const mark = (/** @type {number} */ client, /** @type {number} */ fromUs, /** @type {number} */ toUs) => {
    const values = longest[client];
    if (values === undefined) return;
    const from = Math.max(Math.floor(fromUs / widthUs) - firstBin, 0);
    const to = Math.min(Math.floor(toUs / widthUs) - firstBin, bins - 1);
    for (let bin = from; bin <= to; bin++) values[bin] = Math.max(values[bin] ?? 0, toUs - fromUs);
  };
  // Past the view, until each client's next acknowledgement has told of the pause before it.
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
