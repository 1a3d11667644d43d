/**
 * What the time axis draws: bars on lanes, lines, the exposure and the moments.
 *
 * @import { CustomSeriesOption, LineSeriesOption, ScatterSeriesOption } from 'echarts'
 * @import { OperationColumns, Series, Timeline } from '../types.ts'
 * @import { Palette } from './palette.js'
 */
import { describeOperation } from './operations.js';
import { secondsAfterFault } from './timeline-axes.js';

/**
 * Bars of all lanes: value = [from, to, lane].
 * @param {Timeline} timeline
 * @param {Palette} palette
 * @returns {CustomSeriesOption}
 */
export function laneSeries(timeline, palette) {
  const data = timeline.lanes.flatMap((lane, index) =>
    lane.bars.map((bar) => ({
      name: `${lane.label}\n${bar.label}`,
      value: [bar.fromS, bar.toS, index],
      itemStyle: { color: palette.tones[bar.tone] },
    })),
  );
  const labels = timeline.lanes.flatMap((lane) => lane.bars.map((bar) => bar.label));
  return {
    id: 'lanes',
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
      const height = api.size([0, 1])[1] - 6;
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
 * Lines of one plot.
 * @param {readonly Series[]} lines
 * @param {number} axis
 * @param {Palette} palette
 * @param {{ id: string, step?: boolean }} how
 * @returns {(LineSeriesOption & { xAxisIndex: number })[]}
 */
export function lineSeries(lines, axis, palette, { id, step = false }) {
  return lines.map((line, index) => ({
    id: `${id} ${line.name}`,
    type: 'line',
    name: line.name,
    xAxisIndex: axis,
    yAxisIndex: axis,
    // '-' is ECharts' way to say that there is nothing.
    data: line.points.map(([atS, value]) => [atS, value ?? '-']),
    showSymbol: false,
    symbolSize: 5,
    step: step ? 'end' : false,
    lineStyle: { width: 1.4 },
    color: palette.lines[index % palette.lines.length] ?? palette.text,
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
 * The exposure and the moments on one grid; words only on the first.
 * @param {Timeline} timeline
 * @param {number} axis
 * @param {boolean} compact
 * @param {Palette} palette
 * @returns {LineSeriesOption}
 */
export function marks(timeline, axis, compact, palette) {
  const named = axis === 0;
  const { exposure, moments } = timeline;
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
                    show: named && !compact,
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

/**
 * Text of the tooltip.
 * @param {any} item
 * @param {OperationColumns} columns
 */
export function describeItem(item, columns) {
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
