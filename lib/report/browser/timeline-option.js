/**
 * The time axis as an ECharts option. One function for the page's interactive chart and for the
 * static picture; plain JavaScript, since the page carries these very files.
 *
 * @import { EChartsOption } from 'echarts'
 * @import { PlotData, PreparedOperations, Timeline } from '../types.ts'
 * @import { Palette } from './palette.js'
 */
import { palettes } from './palette.js';
import { describeOperation } from './operations.js';
import { laneAxis, timeAxis, valueAxis, zoom } from './timeline-axes.js';
import { describeItem, laneSeries, lineSeries, marks, pointSeries } from './timeline-series.js';

const laneHeight = 21;
const plotHeight = 104;
const plotGap = 52;
const topSpace = 76;
const plots = 4;

/**
 * Height of the whole drawing in px.
 * @param {Timeline} timeline
 * @returns {number}
 */
export function timelineHeight(timeline) {
  return topSpace + timeline.lanes.length * laneHeight + plots * (plotGap + plotHeight) + 40;
}

/**
 * @param {Timeline} timeline
 * @param {PreparedOperations} prepared
 * @param {PlotData} view
 * @param {{ dark: boolean, compact: boolean }} look  `compact` for narrow screens
 * @returns {EChartsOption}
 */
export function timelineOption(timeline, prepared, view, { dark, compact }) {
  const palette = dark ? palettes.dark : palettes.light;
  const left = compact ? 112 : 210;
  const right = compact ? 8 : 20;
  const lanesHeight = timeline.lanes.length * laneHeight;
  const plotTop = (/** @type {number} */ index) =>
    topSpace + lanesHeight + plotGap + index * (plotHeight + plotGap);
  const logarithmic = [false, true, true, false];
  const grids = [
    { left, right, top: topSpace, height: lanesHeight },
    ...logarithmic.map((_, index) => ({ left, right, top: plotTop(index), height: plotHeight })),
  ];
  const series = plotSeries(timeline, prepared, view, dark);
  return {
    animation: false,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: 'system-ui, sans-serif', color: palette.text },
    title: plotTitles(view, series).map((text, index) => ({
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
      laneAxis(timeline, left, compact, palette),
      ...logarithmic.map((log, index) => valueAxis({ log }, index + 1, palette)),
    ],
    axisPointer: { link: [{ xAxisIndex: 'all' }], snap: false },
    tooltip: {
      trigger: 'item',
      renderMode: 'richText',
      confine: true,
      formatter: (/** @type {any} */ item) => describeItem(item, prepared.columns),
    },
    dataZoom: zoom(grids.length, left, right, palette),
    series: [
      laneSeries(timeline, palette),
      ...series,
      ...grids.map((_, index) => marks(timeline, index, compact, palette)),
    ],
  };
}

/**
 * What changes with the view.
 * @param {Timeline} timeline
 * @param {PreparedOperations} prepared
 * @param {PlotData} view
 * @param {boolean} dark
 * @returns {EChartsOption}
 */
export function viewOption(timeline, prepared, view, dark) {
  const series = plotSeries(timeline, prepared, view, dark);
  return { title: plotTitles(view, series).map((text) => ({ text })), series };
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
  return [
    ...lineSeries(rates, 1, palette, { id: 'rate', step: true }),
    ...lineSeries(points === null ? slowest : emptied(slowest), 2, palette, { id: 'slowest' }),
    ...operationPoints(prepared, view, palette),
    ...lineSeries(pauses, 3, palette, { id: 'pause', step: true }),
    ...lineSeries(timeline.written, 4, palette, { id: 'written' }),
  ];
}

const emptied = (/** @type {PlotData['slowest']} */ lines) =>
  lines.map(({ name }) => ({ name, points: [] }));

/**
 * @param {PreparedOperations} prepared
 * @param {PlotData} view
 * @param {Palette} palette
 */
function operationPoints({ columns, clients, lines }, { points, troubles }, palette) {
  const all = (points ?? []).map((index) => ({ index, ...describeOperation(columns, index) }));
  const place = (/** @type {(typeof all)[number]} */ { endS, latencyMs, index }) =>
    /** @type {const} */ ([endS, Math.max(latencyMs, 0.001), index]);
  const good = lines.map((name, number) => {
    const data = all.filter(
      ({ outcome, client, node }) => outcome === 'ok' && `${client} → ${node}` === name,
    );
    const color = palette.lines[number % palette.lines.length] ?? palette.text;
    return pointSeries(name, data.map(place), 2, { id: 'each', color, symbol: 'circle', size: 5 });
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
