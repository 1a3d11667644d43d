/**
 * The time axis as an ECharts option. One function for the page's interactive chart and for the
 * static picture; plain JavaScript, since the page carries these very files.
 *
 * @import { EChartsOption } from 'echarts'
 * @import { Timeline } from '../types.ts'
 */
import { palettes } from './palette.js';
import { laneAxis, timeAxis, valueAxis, zoom } from './timeline-axes.js';
import { describeItem, laneSeries, marks, plotSeries } from './timeline-series.js';

const laneHeight = 21;
const plotHeight = 104;
const plotGap = 52;
const topSpace = 76;

/**
 * Height of the whole drawing in px.
 * @param {Timeline} timeline
 * @returns {number}
 */
export function timelineHeight(timeline) {
  return topSpace + timeline.lanes.length * laneHeight + 3 * (plotGap + plotHeight) + 40;
}

/**
 * @param {Timeline} timeline
 * @param {{ dark: boolean, compact: boolean }} look  `compact` for narrow screens
 * @returns {EChartsOption}
 */
export function timelineOption(timeline, { dark, compact }) {
  const palette = dark ? palettes.dark : palettes.light;
  const left = compact ? 112 : 210;
  const right = compact ? 8 : 20;
  const lanesHeight = timeline.lanes.length * laneHeight;
  const plots = [
    { title: `acked commits/s (per ${timeline.bucketS} s)`, lines: timeline.commits, log: false },
    { title: 'slowest commit, ms', lines: timeline.latency, log: true },
    { title: 'MiB written per device', lines: timeline.written, log: false },
  ];
  const plotTop = (/** @type {number} */ index) =>
    topSpace + lanesHeight + plotGap + index * (plotHeight + plotGap);
  const grids = [
    { left, right, top: topSpace, height: lanesHeight },
    ...plots.map((_, index) => ({ left, right, top: plotTop(index), height: plotHeight })),
  ];
  const xAxes = grids.map((_, gridIndex) => timeAxis(timeline, gridIndex, palette));
  return {
    animation: false,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: 'system-ui, sans-serif', color: palette.text },
    title: plots.map(({ title, lines }, index) => ({
      text: lines.length === 0 ? `${title}: nothing recorded` : title,
      left: compact ? 0 : left,
      top: plotTop(index) - (compact ? 40 : 24),
      textStyle: { fontSize: 12, fontWeight: 600, color: palette.text },
    })),
    legend: plots.map(({ lines }, index) => ({
      data: lines.map((line) => line.name),
      ...(compact ? { left: 0 } : { right }),
      top: plotTop(index) - (compact ? 22 : 26),
      itemGap: 18,
      itemWidth: 14,
      itemHeight: 8,
      textStyle: { color: palette.faint, fontSize: 11 },
      type: 'scroll',
    })),
    grid: grids,
    xAxis: xAxes,
    yAxis: [laneAxis(timeline, left, compact, palette), ...plots.map((plot, i) => valueAxis(plot, i + 1, palette))],
    axisPointer: { link: [{ xAxisIndex: 'all' }], snap: false },
    tooltip: {
      trigger: 'item',
      renderMode: 'richText',
      confine: true,
      formatter: describeItem,
    },
    dataZoom: zoom(xAxes.length, left, right, palette),
    series: [
      laneSeries(timeline, palette),
      ...plots.flatMap(({ lines }, index) => plotSeries(lines, index + 1, palette)),
      ...grids.map((_, index) => marks(timeline, index, compact, palette)),
    ],
  };
}
