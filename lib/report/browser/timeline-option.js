/**
 * The time axis as an ECharts option. One function for the page's interactive chart and for the
 * static picture; plain JavaScript, since the page carries this very file.
 *
 * @import { CustomSeriesOption, DataZoomComponentOption, EChartsOption } from 'echarts'
 * @import { LineSeriesOption, XAXisComponentOption, YAXisComponentOption } from 'echarts'
 * @import { Series, Timeline } from '../types.ts'
 */

const palettes = {
  light: {
    text: '#1f2933',
    faint: '#7b8794',
    line: '#d9dee4',
    tones: {
      good: '#5aa469',
      busy: '#4f83c4',
      warn: '#e0a030',
      bad: '#cf4b43',
      neutral: '#aab4bf',
      action: '#8a63b8',
    },
    lines: ['#2f6db5', '#d9822b', '#3d8b5f', '#8a63b8', '#b3404a', '#5b6770'],
    barText: '#10171e',
  },
  dark: {
    text: '#e4e9ee',
    faint: '#8d99a6',
    line: '#333c46',
    tones: {
      good: '#4b9a63',
      busy: '#4a7fc0',
      warn: '#c98a22',
      bad: '#d65a50',
      neutral: '#56616d',
      action: '#9a76cc',
    },
    lines: ['#6aa5ea', '#eaa04f', '#63b98a', '#b08fe0', '#e0757d', '#9aa7b4'],
    barText: '#ffffff',
  },
};

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
  const left = compact ? 98 : 210;
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
    yAxis: [laneAxis(timeline, left, palette), ...plots.map((plot, i) => valueAxis(plot, i + 1, palette))],
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
      ...grids.map((_, index) => marks(timeline, index, palette)),
    ],
  };
}

/** @typedef {typeof palettes.light} Palette */

/**
 * @param {Timeline} timeline
 * @param {number} gridIndex
 * @param {Palette} palette
 * @returns {XAXisComponentOption}
 */
function timeAxis(timeline, gridIndex, palette) {
  return {
    type: 'value',
    gridIndex,
    min: timeline.fromS,
    max: timeline.toS,
    axisLabel: { color: palette.faint, formatter: secondsAfterFault, hideOverlap: true },
    axisLine: { lineStyle: { color: palette.line } },
    splitLine: { lineStyle: { color: palette.line, opacity: 0.6 } },
    axisPointer: { show: true, label: { show: gridIndex === 0, formatter: pointerLabel } },
  };
}

/**
 * @param {Timeline} timeline
 * @param {number} left
 * @param {Palette} palette
 * @returns {YAXisComponentOption}
 */
function laneAxis(timeline, left, palette) {
  return {
    type: 'category',
    gridIndex: 0,
    inverse: true,
    data: timeline.lanes.map((lane) => lane.label),
    axisLabel: {
      color: palette.text,
      fontSize: 11,
      width: left - 14,
      overflow: 'truncate',
      interval: 0,
    },
    axisTick: { show: false },
    axisLine: { lineStyle: { color: palette.line } },
    splitLine: { show: true, lineStyle: { color: palette.line, opacity: 0.5 } },
  };
}

/**
 * @param {{ lines: readonly Series[], log: boolean }} plot
 * @param {number} gridIndex
 * @param {Palette} palette
 * @returns {YAXisComponentOption}
 */
function valueAxis({ log }, gridIndex, palette) {
  return {
    type: log ? 'log' : 'value',
    gridIndex,
    splitNumber: 3,
    axisLabel: { color: palette.faint, fontSize: 10 },
    axisLine: { show: true, lineStyle: { color: palette.line } },
    splitLine: { lineStyle: { color: palette.line, opacity: 0.6 } },
  };
}

/**
 * @param {number} axes
 * @param {number} left
 * @param {number} right
 * @param {Palette} palette
 * @returns {DataZoomComponentOption[]}
 */
function zoom(axes, left, right, palette) {
  const xAxisIndex = Array.from({ length: axes }, (_, index) => index);
  return [
    {
      type: 'slider',
      xAxisIndex,
      filterMode: 'none',
      top: 8,
      height: 22,
      left,
      right,
      labelFormatter: secondsAfterFault,
      textStyle: { color: palette.faint },
      showDataShadow: false,
      borderColor: palette.line,
    },
    // Without Ctrl the wheel scrolls the page.
    { type: 'inside', xAxisIndex, filterMode: 'none', zoomOnMouseWheel: 'ctrl' },
  ];
}

/**
 * Bars of all lanes: value = [from, to, lane].
 * @param {Timeline} timeline
 * @param {Palette} palette
 * @returns {CustomSeriesOption}
 */
function laneSeries(timeline, palette) {
  const data = timeline.lanes.flatMap((lane, index) =>
    lane.bars.map((bar) => ({
      name: `${lane.label}\n${bar.label}`,
      value: [bar.fromS, bar.toS, index],
      itemStyle: { color: palette.tones[bar.tone] },
    })),
  );
  const labels = timeline.lanes.flatMap((lane) => lane.bars.map((bar) => bar.label));
  return {
    type: 'custom',
    xAxisIndex: 0,
    yAxisIndex: 0,
    clip: true,
    encode: { x: [0, 1], y: 2 },
    data,
    renderItem: (/** @type {any} */ params, /** @type {any} */ api) => {
      const [from, y] = api.coord([api.value(0), api.value(2)]);
      const [to] = api.coord([api.value(1), api.value(2)]);
      const width = Math.max(to - from, 2);
      const height = laneHeight - 6;
      const label = labels[params.dataIndex] ?? '';
      // Bars that begin left of the view keep their label in sight.
      const visibleFrom = Math.max(from, params.coordSys.x);
      const visible = Math.min(from + width, params.coordSys.x + params.coordSys.width) - visibleFrom;
      const bar = {
        type: /** @type {const} */ ('rect'),
        shape: { x: from, y: y - height / 2, width, height, r: 2 },
        style: { fill: api.visual('color') },
      };
      if (visible < label.length * 6 + 8) return bar;
      const style = { text: label, x: visibleFrom + 4, y, fontSize: 10.5, fill: palette.barText };
      const text = {
        type: /** @type {const} */ ('text'),
        silent: true,
        style: { ...style, verticalAlign: /** @type {const} */ ('middle') },
      };
      return { type: 'group', children: [bar, text] };
    },
  };
}

/**
 * @param {readonly Series[]} lines
 * @param {number} axis
 * @param {Palette} palette
 * @returns {LineSeriesOption[]}
 */
function plotSeries(lines, axis, palette) {
  return lines.map((line, index) => ({
    type: 'line',
    name: line.name,
    xAxisIndex: axis,
    yAxisIndex: axis,
    // '-' is ECharts' way to say that there is nothing.
    data: line.points.map(([atS, value]) => [atS, value ?? '-']),
    showSymbol: false,
    symbolSize: 5,
    step: axis === 1 ? 'end' : false,
    lineStyle: { width: 1.4 },
    color: palette.lines[index % palette.lines.length] ?? palette.text,
  }));
}

/**
 * The exposure and the moments on one grid; words only on the first.
 * @param {Timeline} timeline
 * @param {number} axis
 * @param {Palette} palette
 * @returns {LineSeriesOption}
 */
function marks(timeline, axis, palette) {
  const named = axis === 0;
  const { exposure, moments } = timeline;
  return {
    type: 'line',
    xAxisIndex: axis,
    yAxisIndex: axis,
    data: [],
    silent: true,
    markLine: {
      symbol: 'none',
      silent: true,
      data: moments.map(({ fromS, tone, label }) => ({
        xAxis: fromS,
        lineStyle: { color: palette.tones[tone], type: 'solid', width: 1.5 },
        // The lane axis is upside down: its start is the top.
        label: {
          show: named,
          position: 'start',
          formatter: label,
          color: palette.tones[tone],
          fontSize: 11,
        },
      })),
    },
    markArea: {
      silent: true,
      itemStyle: { color: palette.tones.bad, opacity: 0.14 },
      data:
        exposure === null
          ? []
          : [
              [
                {
                  xAxis: exposure.fromS,
                  label: {
                    show: named,
                    position: 'top',
                    distance: 18,
                    formatter: exposure.label,
                    color: palette.tones.bad,
                  },
                },
                { xAxis: exposure.toS },
              ],
            ],
    },
  };
}

/** @param {number} seconds */
function secondsAfterFault(seconds) {
  const rounded = Math.round(seconds * 10) / 10;
  return rounded === 0 ? 'fault' : `${rounded > 0 ? '+' : '−'}${Math.abs(rounded)} s`;
}

/** @param {{ value: unknown }} pointer */
function pointerLabel({ value }) {
  return secondsAfterFault(Number(value));
}

/** @param {any} item */
function describeItem(item) {
  const [from, to] = item.value;
  if (item.seriesType !== 'custom') return `${item.seriesName}\n${secondsAfterFault(from)}: ${to}`;
  const when =
    from === to
      ? secondsAfterFault(from)
      : `${secondsAfterFault(from)} to ${secondsAfterFault(to)} (${Math.round((to - from) * 1000) / 1000} s)`;
  return `${item.name}\n${when}`;
}
