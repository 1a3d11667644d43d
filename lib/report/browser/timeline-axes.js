/**
 * Axes and zoom of the time axis.
 *
 * @import { DataZoomComponentOption, XAXisComponentOption, YAXisComponentOption } from 'echarts'
 * @import { Timeline } from '../types.ts'
 * @import { Palette } from './palette.js'
 * @import { Row } from './timeline-rows.js'
 */

/** @param {number} seconds */
export function secondsAfterFault(seconds) {
  const rounded = Number(seconds.toFixed(Math.abs(seconds) < 1e4 ? 4 : 1));
  return rounded === 0 ? 'fault' : `${rounded > 0 ? '+' : '−'}${Math.abs(rounded)} s`;
}

/** @param {{ value: unknown }} pointer */
function pointerLabel({ value }) {
  return secondsAfterFault(Number(Number(value).toFixed(2)));
}

/**
 * @param {Timeline} timeline
 * @param {number} gridIndex
 * @param {Palette} palette
 * @returns {XAXisComponentOption}
 */
export function timeAxis(timeline, gridIndex, palette) {
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
 * @param {readonly Row[]} rows
 * @param {number} left
 * @param {Palette} palette
 * @returns {YAXisComponentOption}
 */
export function laneAxis(rows, left, palette) {
  return {
    type: 'category',
    gridIndex: 0,
    inverse: true,
    // A click on a heading opens or closes what is below it.
    triggerEvent: true,
    data: rows.map(({ label, heading, role }) =>
      heading
        ? { value: label, textStyle: { color: palette.roles[role], fontWeight: 'bold' } }
        : { value: label },
    ),
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
 * @param {{ log: boolean }} plot
 * @param {number} gridIndex
 * @param {Palette} palette
 * @returns {YAXisComponentOption}
 */
export function valueAxis({ log }, gridIndex, palette) {
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
export function zoom(axes, left, right, palette) {
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
      labelFormatter: (/** @type {number} */ value) => secondsAfterFault(Math.round(value * 100) / 100),
      textStyle: { color: palette.faint },
      showDataShadow: false,
      borderColor: palette.line,
    },
    // Dragging chooses a stretch (drag-zoom.js).
    {
      type: 'inside',
      xAxisIndex,
      filterMode: 'none',
      zoomOnMouseWheel: 'ctrl',
      moveOnMouseMove: false,
    },
  ];
}
