/**
 * The time axis as an ECharts option. One function for the page's interactive chart and for the
 * static picture; plain JavaScript, since the page carries these very files.
 *
 * @import { EChartsOption } from 'echarts'
 * @import { PlotData, PreparedOperations, Role, Timeline } from '../types.ts'
 * @import { Palette } from './palette.js'
 */
import { palettes } from './palette.js';
import { describeOperation } from './operations.js';
import { laneAxis, timeAxis, valueAxis, zoom } from './timeline-axes.js';
import { rowsOf } from './timeline-rows.js';
import { describeHovered, laneSeries, lineSeries, marks, pointSeries } from './timeline-series.js';

const laneHeight = 21;
const plotHeight = 104;
/** A narrow plot's title and legend stand one over the other. */
const plotGap = { wide: 52, narrow: 68 };
const plots = 4;
/** Slider and labels stand above the lanes, px. */
export const topSpace = 84;

/** @typedef {{ dark: boolean, compact: boolean, closed: ReadonlySet<Role>, widthPx: number }} Look  `compact` for narrow screens */

/** @param {boolean} compact */
const marginsOf = (compact) => (compact ? { left: 112, right: 8 } : { left: 190, right: 20 });

/**
 * Height of the whole drawing in px.
 * @param {Timeline} timeline
 * @param {Pick<Look, 'closed' | 'compact'>} look
 * @returns {number}
 */
export function timelineHeight(timeline, { closed, compact }) {
  const rows = rowsOf(timeline, closed).length;
  const gap = compact ? plotGap.narrow : plotGap.wide;
  return topSpace + rows * laneHeight + plots * (gap + plotHeight) + 40;
}

/**
 * @param {Timeline} timeline
 * @param {PreparedOperations} prepared
 * @param {PlotData} view
 * @param {Look & { fromS: number, toS: number }} look
 * @returns {EChartsOption}
 */
export function timelineOption(timeline, prepared, view, look) {
  const { dark, compact, closed } = look;
  const palette = dark ? palettes.dark : palettes.light;
  const { left, right } = marginsOf(compact);
  const rows = rowsOf(timeline, closed);
  const lanesHeight = rows.length * laneHeight;
  const gap = compact ? plotGap.narrow : plotGap.wide;
  const plotTop = (/** @type {number} */ index) =>
    topSpace + lanesHeight + gap + index * (plotHeight + gap);
  const logarithmic = [false, true, true, false];
  const grids = [
    { left, right, top: topSpace, height: lanesHeight },
    ...logarithmic.map((_, index) => ({ left, right, top: plotTop(index), height: plotHeight })),
  ];
  const series = plotSeries(timeline, prepared, view, dark);
  const titles = plotTitles(view, series);
  return {
    animation: false,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: 'system-ui, sans-serif', color: palette.text },
    title: titles.map((text, index) => ({
      text,
      left: compact ? 0 : left,
      top: plotTop(index) - (compact ? 40 : 24),
      textStyle: { fontSize: 12, fontWeight: 600, color: palette.text },
    })),
    legend: logarithmic.map((_, index) => ({
      data: namesIn(series, index + 1),
      ...(compact ? { left: 0 } : { right }),
      top: plotTop(index) - (compact ? 22 : 26),
      itemGap: 18,
      itemWidth: 14,
      itemHeight: 8,
      textStyle: { color: palette.faint, fontSize: 11 },
      type: 'scroll',
    })),
    grid: grids,
    xAxis: grids.map((_, gridIndex) => timeAxis(timeline, gridIndex, palette)),
    yAxis: [
      laneAxis(rows, left, palette),
      ...logarithmic.map((log, index) => valueAxis({ log }, index + 1, palette)),
    ],
    axisPointer: { link: [{ xAxisIndex: 'all' }], snap: false },
    tooltip: {
      trigger: 'item',
      renderMode: 'richText',
      confine: true,
      formatter: (/** @type {any} */ hovered) =>
        describeHovered(hovered, prepared.columns, titles),
    },
    dataZoom: zoom(grids.length, left, right, palette),
    series: [laneSeries(rows, palette), ...series, ...allMarks(timeline, look)],
  };
}

/**
 * The moments on every grid. Their labels depend on the view.
 * @param {Timeline} timeline
 * @param {Look & { fromS: number, toS: number }} look
 */
function allMarks(timeline, { dark, compact, widthPx, fromS, toS }) {
  const { left, right } = marginsOf(compact);
  const palette = dark ? palettes.dark : palettes.light;
  const view = { fromS, toS, widthPx: widthPx - left - right };
  return Array.from({ length: plots + 1 }, (_, index) => marks(timeline, index, view, palette));
}

/**
 * What changes with the view.
 * @param {Timeline} timeline
 * @param {PreparedOperations} prepared
 * @param {PlotData} view
 * @param {Look & { fromS: number, toS: number }} look
 * @returns {EChartsOption}
 */
export function viewOption(timeline, prepared, view, look) {
  const series = plotSeries(timeline, prepared, view, look.dark);
  return {
    title: plotTitles(view, series).map((text) => ({ text })),
    series: [...series, ...allMarks(timeline, look)],
  };
}

/**
 * @param {PlotData} view
 * @param {readonly { xAxisIndex?: number | undefined }[]} series
 */
function plotTitles({ widthS, points }, series) {
  const each = widthS < 1 ? `${Number((widthS * 1000).toFixed(1))} ms` : `${widthS} s`;
  return [
    `acknowledged commits/s, mean of ${each}`,
    points === null ? `slowest commit of each ${each}, ms` : 'latency of each operation, ms',
    'longest pause without an acknowledged commit, ms',
    'MiB written per device',
  ].map((title, index) =>
    series.some(({ xAxisIndex }) => xAxisIndex === index + 1)
      ? title
      : `${title}: nothing recorded`,
  );
}

/**
 * Names for a plot's legend. Those of the latency plot are the rate plot's, with the same colours.
 * @param {ReturnType<typeof plotSeries>} series
 * @param {number} axis
 */
function namesIn(series, axis) {
  const shown = series.filter(
    ({ xAxisIndex, type }) => xAxisIndex === axis && (axis !== 2 || type === 'scatter'),
  );
  return [...new Set(shown.map(({ name }) => String(name)))].filter(
    (name) => axis !== 2 || name.endsWith(troubleSuffix),
  );
}

const troubleSuffix = ': failed or unknown';

/**
 * @param {Timeline} timeline
 * @param {PreparedOperations} prepared
 * @param {PlotData} view
 * @param {boolean} dark
 */
function plotSeries(timeline, prepared, view, dark) {
  const palette = dark ? palettes.dark : palettes.light;
  const { rates, slowest, pauses, points } = view;
  const byNode = colorsOf(timeline, palette);
  const byNumber = (/** @type {string} */ _, /** @type {number} */ index) =>
    palette.lines[index % palette.lines.length] ?? palette.text;
  return [
    ...lineSeries(rates, 1, byNode, { id: 'rate', step: true }),
    ...lineSeries(points === null ? slowest : emptied(slowest), 2, byNode, { id: 'slowest' }),
    ...operationPoints(prepared, view, palette, byNode),
    ...lineSeries(pauses, 3, byNumber, { id: 'pause', step: true }),
    ...lineSeries(timeline.written, 4, byNode, { id: 'written' }),
  ];
}

/**
 * What a line tells of the victim or of its successor has that one's colour.
 * @param {Timeline} timeline
 * @param {Palette} palette
 * @returns {(name: string, index: number) => string}
 */
function colorsOf({ lanes }, palette) {
  const roles = new Map(lanes.map(({ node, role }) => [node ?? '', role]));
  return (name, index) => {
    const words = name.split(' ');
    const role = words.map((word) => roles.get(word)).find((found) => found !== undefined);
    return role === 'victim' || role === 'successor'
      ? palette.roles[role]
      : (palette.lines[index % palette.lines.length] ?? palette.text);
  };
}

const emptied = (/** @type {PlotData['slowest']} */ lines) =>
  lines.map(({ name }) => ({ name, points: [] }));

/**
 * @param {PreparedOperations} prepared
 * @param {PlotData} view
 * @param {Palette} palette
 * @param {(name: string, index: number) => string} colorOf
 */
function operationPoints({ columns, clients, lines }, { points, troubles }, palette, colorOf) {
  const all = (points ?? []).map((index) => ({ index, ...describeOperation(columns, index) }));
  const place = (/** @type {(typeof all)[number]} */ { endS, latencyMs, index }) =>
    /** @type {const} */ ([endS, Math.max(latencyMs, 0.001), index]);
  const good = lines.map((name, number) => {
    const data = all.filter(
      ({ outcome, client, node }) => outcome === 'ok' && `${client} → ${node}` === name,
    );
    const look = { color: colorOf(name, number), symbol: /** @type {const} */ ('circle'), size: 5 };
    return pointSeries(name, data.map(place), 2, { id: 'each', ...look });
  });
  const color = palette.tones.bad;
  const bad = clients.map((client, number) => {
    const data =
      points === null
        ? (troubles[number]?.points ?? []).flatMap(([atS, ms]) =>
            ms === null ? [] : [/** @type {const} */ ([atS, ms, -1])],
          )
        : all.filter((each) => each.outcome !== 'ok' && each.client === client).map(place);
    const name = `${client}${troubleSuffix}`;
    return pointSeries(name, data, 2, { id: 'trouble', color, symbol: 'diamond', size: 7 });
  });
  return [...good, ...bad];
}
