/** Static pictures by ECharts' own server-side rendering: for no JavaScript and for paper. */
import * as echarts from 'echarts';
import type { EChartsOption } from 'echarts';
import { plotOperations, prepareOperations } from './browser/bins.js';
import { palettes } from './browser/palette.js';
import { laneAxis, timeAxis } from './browser/timeline-axes.js';
import { timelineHeight, timelineOption } from './browser/timeline-option.js';
import { laneSeries, marks } from './browser/timeline-series.js';
import type { OperationColumns, PreparedOperations, RecoveryStep, Timeline } from './types.ts';

export interface Picture {
  /** SVG documents as data URIs. */
  readonly light: string;
  readonly dark: string;
  readonly width: number;
  readonly height: number;
}

/** Of a picture across the page, px. */
export const wideWidth = 1140;

export function timelinePicture(timeline: Timeline, operations: OperationColumns): Picture {
  return renderPicture(wholeAxis(timeline, operations), timelineHeight(timeline));
}

function wholeAxis(
  timeline: Timeline,
  operations: OperationColumns,
): (dark: boolean) => EChartsOption {
  const prepared: PreparedOperations = prepareOperations(operations);
  const view = plotOperations(prepared, timeline.fromS, timeline.toS);
  return (dark) => timelineOption(timeline, prepared, view, { dark, compact: false });
}

/** Lanes that tell who had the volume, and whose database answered. */
const storyGroups = ['mount', 'mysqld'];
const storyLaneHeight = 26;

/** The same axis with those lanes only; undefined where there is none. */
export function storyPicture(timeline: Timeline, compact: boolean): Picture | undefined {
  const lanes = timeline.lanes.filter(
    ({ group, label }) => storyGroups.includes(group) && !label.includes('errors'),
  );
  if (lanes.length === 0) return undefined;
  const option = (dark: boolean): EChartsOption =>
    storyOption({ ...timeline, lanes }, dark, compact);
  return renderPicture(option, 62 + storyLaneHeight * lanes.length, compact ? 360 : wideWidth);
}

function storyOption(timeline: Timeline, dark: boolean, compact: boolean): EChartsOption {
  const palette = dark ? palettes.dark : palettes.light;
  const left = compact ? 112 : 210;
  return {
    animation: false,
    textStyle: { fontFamily: 'system-ui, sans-serif', color: palette.text },
    grid: [{ left, right: 20, top: 36, bottom: 26 }],
    xAxis: [timeAxis(timeline, 0, palette)],
    yAxis: [laneAxis(timeline, left, compact, palette)],
    series: [laneSeries(timeline, palette), marks(timeline, 0, compact, palette)],
  };
}

/** The whole axis on white ground, as an SVG document of its own. */
export function timelineSvg(timeline: Timeline, operations: OperationColumns): string {
  const option = wholeAxis(timeline, operations)(false);
  return renderSvg({ ...option, backgroundColor: '#ffffff' }, wideWidth, timelineHeight(timeline));
}

/** One bar from the fault to the first commit, split into its steps. */
export function recoveryPicture(steps: readonly RecoveryStep[]): Picture {
  return renderPicture((dark) => recoveryOption(steps, dark), 96);
}

const recoveryColors = [
  '#4f83c4',
  '#e0a030',
  '#8a63b8',
  '#cf4b43',
  '#5aa469',
  '#3f8f9c',
  '#b0718f',
  '#7b8794',
];

function recoveryOption(steps: readonly RecoveryStep[], dark: boolean): EChartsOption {
  const color = dark ? '#e4e9ee' : '#1f2933';
  return {
    animation: false,
    color: recoveryColors,
    textStyle: { fontFamily: 'system-ui, sans-serif' },
    grid: { left: 8, right: 24, top: 34, bottom: 24 },
    legend: { left: 0, top: 0, textStyle: { color }, itemWidth: 12, itemHeight: 10, itemGap: 18 },
    xAxis: {
      type: 'value',
      max: 'dataMax',
      axisLabel: { color, formatter: '{value} s' },
      splitLine: { show: false },
    },
    yAxis: { type: 'category', data: [''], axisTick: { show: false } },
    series: steps.map(({ name, fromS, toS }) => ({
      name,
      type: 'bar',
      stack: 'way back',
      barWidth: 26,
      data: [toS - fromS],
    })),
  };
}

/** In both colourings; the same option gives the same bytes. */
export function renderPicture(
  option: (dark: boolean) => EChartsOption,
  height: number,
  width = wideWidth,
): Picture {
  const draw = (dark: boolean): string => dataUri(renderSvg(option(dark), width, height));
  return {
    light: draw(false),
    dark: draw(true),
    width,
    height,
  };
}

const dataUri = (svg: string): string =>
  `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;

/** An SVG document. */
export function renderSvg(option: EChartsOption, width: number, height: number): string {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption(option);
  const svg = renumber(chart.renderToSVGString());
  chart.dispose();
  return svg;
}

/**
 * Byte for byte the same for the same option: ECharts numbers ids and classes on through the whole
 * process, so they are numbered anew in their order of appearance.
 */
function renumber(svg: string): string {
  const names = new Map<string, string>();
  return svg.replaceAll(/\bzr\d+-[a-z]+-?\d+/g, (name) => {
    const known = names.get(name) ?? `zr-${names.size}`;
    names.set(name, known);
    return known;
  });
}
