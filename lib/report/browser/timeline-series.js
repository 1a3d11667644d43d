/**
 * What the time axis draws: bars on lanes, lines, the exposure and the moments.
 *
 * @import { CustomSeriesOption, LineSeriesOption, ScatterSeriesOption } from 'echarts'
 * @import { Bar, OperationColumns, Series, Timeline } from '../types.ts'
 * @import { Palette } from './palette.js'
 * @import { Row } from './timeline-rows.js'
 */
import { describeOperation } from './operations.js';
import { barStyle } from './palette.js';
import { secondsAfterFault } from './timeline-axes.js';

/**
 * Bars of all rows: value = [from, to, row].
 * @param {readonly Row[]} rows
 * @param {Palette} palette
 * @returns {CustomSeriesOption}
 */
export function laneSeries(rows, palette) {
  const bars = rows.flatMap((row, index) => row.bars.map((bar) => ({ bar, row, index })));
  return {
    id: 'lanes',
    type: 'custom',
    xAxisIndex: 0,
    yAxisIndex: 0,
    clip: true,
    encode: { x: [0, 1], y: 2 },
    data: bars.map(({ bar, row, index }) => ({
      name: `${row.label}\n${bar.label}`,
      value: [bar.fromS, bar.toS, index],
      itemStyle: barStyle(bar, row.role, palette),
    })),
    renderItem: (/** @type {any} */ params, /** @type {any} */ api) => {
      const [from, y] = api.coord([api.value(0), api.value(2)]);
      const [to] = api.coord([api.value(1), api.value(2)]);
      const width = Math.max(to - from, 2);
      const height = api.size([0, 1])[1] - 6;
      const drawn = bars[params.dataIndex]?.bar;
      const label = drawn?.label ?? '';
      // Bars that begin left of the view keep their label in sight.
      const visibleFrom = Math.max(from, params.coordSys.x);
      const visible = Math.min(from + width, params.coordSys.x + params.coordSys.width) - visibleFrom;
      const bar = {
        type: /** @type {const} */ ('rect'),
        shape: { x: from, y: y - height / 2, width, height, r: 2 },
        style: { fill: api.visual('color'), opacity: api.visual('opacity') },
      };
      if (visible < label.length * 6 + 8) return bar;
      const fill = drawn?.tone === 'warn' ? palette.darkBarText : palette.barText;
      const style = { text: label, x: visibleFrom + 4, y, fontSize: 10.5, fill };
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
 * Lines of one plot.
 * @param {readonly Series[]} lines
 * @param {number} axis
 * @param {(name: string, index: number) => string} colorOf
 * @param {{ id: string, step?: boolean }} how
 * @returns {(LineSeriesOption & { xAxisIndex: number })[]}
 */
export function lineSeries(lines, axis, colorOf, { id, step = false }) {
  return lines.map((line, index) => ({
    id: `${id} ${line.name}`,
    type: 'line',
    name: line.name,
    xAxisIndex: axis,
    yAxisIndex: axis,
    // '-' is ECharts' way to say that there is nothing.
    data: line.points.map(([atS, value]) => [atS, value ?? '-']),
    // The pointer's time tells of all lines; a line that is hit would tell of itself, and nothing.
    silent: true,
    showSymbol: false,
    symbolSize: 5,
    step: step ? 'end' : false,
    lineStyle: { width: 1.4, type: line.name.startsWith('inside') ? 'dashed' : 'solid' },
    color: colorOf(line.name, index),
  }));
}

/**
 * Single operations, or of each interval the slowest that went wrong: value = [seconds, ms, index].
 * @param {string} name
 * @param {readonly (readonly [number, number, number])[]} data
 * @param {number} axis
 * @param {{ id: string, color: string, symbol: 'circle' | 'diamond', size: number }} look
 * @returns {ScatterSeriesOption & { xAxisIndex: number }}
 */
export function pointSeries(name, data, axis, { id, color, symbol, size }) {
  return {
    id: `${id} ${name}`,
    type: 'scatter',
    name,
    xAxisIndex: axis,
    yAxisIndex: axis,
    data: data.map((each) => [...each]),
    symbol,
    symbolSize: size,
    itemStyle: { color, opacity: 0.9 },
    z: 4,
  };
}

/**
 * The exposure and the moments on one grid; words only on the first, none over another.
 * @param {Timeline} timeline
 * @param {number} axis
 * @param {{ fromS: number, toS: number, widthPx: number }} view
 * @param {Palette} palette
 * @returns {LineSeriesOption}
 */
export function marks({ exposure, moments }, axis, view, palette) {
  const band = exposure === null ? [] : [exposure];
  const levels = labelLevels([...band, ...moments], view);
  const label = (/** @type {Bar} */ bar, /** @type {string} */ color) => {
    const place = axis === 0 ? levels.get(bar) : undefined;
    if (place === undefined) return { show: false };
    const { level, align } = place;
    const distance = 4 + level * labelHeight;
    return { show: true, formatter: bar.label, color, fontSize: 11, distance, align };
  };
  return {
    id: `marks ${axis}`,
    type: 'line',
    xAxisIndex: axis,
    yAxisIndex: axis,
    data: [],
    silent: true,
    markLine: {
      symbol: 'none',
      silent: true,
      data: moments.map((moment) => {
        const color = palette.tones[moment.tone];
        const minor = moment.tone === 'neutral';
        return {
          xAxis: moment.fromS,
          lineStyle: { color, type: minor ? 'dotted' : 'solid', width: minor ? 1 : 1.5 },
          // The lane axis is upside down: its start is the top.
          label: { position: 'start', ...label(moment, minor ? palette.faint : color) },
        };
      }),
    },
    markArea: {
      silent: true,
      itemStyle: { color: palette.tones.bad, opacity: 0.14 },
      data: band.map((each) => [
        { xAxis: each.fromS, label: { position: 'top', ...label(each, palette.tones.bad) } },
        { xAxis: each.toS },
      ]),
    },
  };
}

const labelHeight = 13;
/** Rows of labels above the lanes. */
export const labelRows = 3;
const labelLetterPx = 6.2;
/** Free beside the axis in every drawing. */
const edgePx = 8;

/**
 * The row of each label, from the lanes upwards, and on which side of its place it stands, so that it
 * does not stick out; those that would lie over one before have none.
 * @param {readonly Bar[]} bars  what matters most first
 * @param {{ fromS: number, toS: number, widthPx: number }} view
 * @returns {Map<Bar, { level: number, align: 'left' | 'center' | 'right' }>}
 */
function labelLevels(bars, { fromS, toS, widthPx }) {
  /** @type {(readonly [number, number])[][]} */
  const taken = Array.from({ length: labelRows }, () => []);
  const levels = new Map();
  for (const bar of bars) {
    if (bar.toS < fromS || bar.fromS > toS) continue;
    const middle = (bar.fromS + bar.toS) / 2;
    const at = ((Math.min(Math.max(middle, fromS), toS) - fromS) / (toS - fromS)) * widthPx;
    const half = (bar.label.length * labelLetterPx) / 2 + 4;
    const align = at + half > widthPx + edgePx ? 'right' : 'center';
    const [begin, end] = align === 'right' ? [at - 2 * half, at] : [at - half, at + half];
    const level = taken.findIndex((row) => row.every(([from, to]) => end < from || begin > to));
    if (level === -1) continue;
    taken[level]?.push([begin, end]);
    levels.set(bar, { level, align });
  }
  return levels;
}

/**
 * Text of the tooltip: of one bar or point, or of all lines at the pointer's time.
 * @param {any} hovered  one item, or a list of them
 * @param {OperationColumns} columns
 * @param {readonly string[]} plotNames  by axis, from 1
 */
export function describeHovered(hovered, columns, plotNames) {
  if (!Array.isArray(hovered)) return describeItem(hovered, columns);
  const lines = hovered.filter(
    ({ seriesType, value }) => seriesType === 'line' && Number.isFinite(value?.[1]),
  );
  const [first] = lines;
  if (first === undefined) return '';
  const plots = plotNames.flatMap((name, index) => {
    const shown = lines.filter(({ axisIndex }) => axisIndex === index + 1);
    return shown.length === 0
      ? []
      : [name, ...shown.map(({ seriesName, value }) => `  ${seriesName}: ${trimmed(value[1])}`)];
  });
  return [secondsAfterFault(Number(Number(first.axisValue).toFixed(3))), ...plots].join('\n');
}

/**
 * @param {any} item
 * @param {OperationColumns} columns
 */
function describeItem(item, columns) {
  const [from, to, index] = item.value;
  if (item.seriesType === 'custom') {
    const lasted = from === to ? '' : ` to ${secondsAfterFault(to)} (${trimmed(to - from)} s)`;
    return `${item.name}\n${secondsAfterFault(from)}${lasted}`;
  }
  if (item.seriesType !== 'scatter' || index < 0) {
    return `${item.seriesName}\n${secondsAfterFault(from)}: ${trimmed(to)}`;
  }
  const { id, node, kind, outcome, error, latencyMs } = describeOperation(columns, index);
  const why = error === '' ? '' : `\n${error.slice(0, 120)}`;
  return `${kind} ${id} on ${node}: ${outcome}\n${secondsAfterFault(from)}, after ${latencyMs} ms${why}`;
}

const trimmed = (/** @type {number} */ value) => Number(value.toFixed(3));
