/** Static pictures by ECharts' own server-side rendering: for no JavaScript and for paper. */
import * as echarts from 'echarts';
import type { EChartsOption } from 'echarts';
import { timelineHeight, timelineOption } from './browser/timeline-option.js';
import type { RecoveryStep, Timeline } from './types.ts';

export interface Picture {
  /** SVG documents as data URIs. */
  readonly light: string;
  readonly dark: string;
  readonly width: number;
  readonly height: number;
}

const width = 1140;

export function timelinePicture(timeline: Timeline): Picture {
  const height = timelineHeight(timeline);
  return renderPicture((dark) => timelineOption(timeline, { dark, compact: false }), height);
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
export function renderPicture(option: (dark: boolean) => EChartsOption, height: number): Picture {
  return {
    light: render(option(false), height),
    dark: render(option(true), height),
    width,
    height,
  };
}

function render(option: EChartsOption, height: number): string {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption(option);
  const svg = renumber(chart.renderToSVGString());
  chart.dispose();
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
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
