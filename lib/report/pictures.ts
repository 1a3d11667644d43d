/** Static pictures by ECharts' own server-side rendering: for no JavaScript and for paper. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type * as ECharts from 'echarts';
import type { EChartsOption } from 'echarts';
import { isCheckout } from '../core/index.ts';
import { plotOperations, prepareOperations, type OperationColumns } from './axis/operations.ts';
import { palettes, type Role } from './axis/palette.ts';
import {
  laneAxis,
  laneSeries,
  marks,
  timeAxis,
  timelineHeight,
  timelineOption,
  type Look,
  type Row,
  type Timeline,
} from './axis/timeline.ts';
import type { Picture } from './html-parts.ts';
import type { RecoveryStep } from './report-data.ts';

/** ECharts as one file: a page carries it, and the static pictures are drawn with it. The npm package has a copy. */
export const echartsFile: string = isCheckout
  ? createRequire(import.meta.url).resolve('echarts/dist/echarts.min.js')
  : fileURLToPath(new URL('echarts.min.cjs', import.meta.url));
const echarts = createRequire(import.meta.url)(echartsFile) as typeof ECharts;

export const wideWidth = 1140;
export const leadWidth = 640;

export const timelinePicture = (timeline: Timeline, operations: OperationColumns): Picture =>
  renderPicture(wholeAxis(timeline, operations), timelineHeight(timeline, wholeLook));

function wholeAxis(
  timeline: Timeline,
  operations: OperationColumns,
): (dark: boolean) => EChartsOption {
  const prepared = prepareOperations(operations);
  const { fromS, toS } = timeline;
  const view = plotOperations(prepared, fromS, toS);
  return (dark) =>
    timelineOption(timeline, prepared, view, {
      ...wholeLook,
      widthPx: wideWidth,
      fromS,
      toS,
      dark,
    });
}

/** On paper nothing that is closed can be opened. */
const wholeLook: Pick<Look, 'compact' | 'closed'> = { compact: false, closed: new Set<Role>() };

/** Lanes that show which node had the volume, and whose database answered. */
const storyGroups = ['mount', 'server'];
const storyLaneHeight = 26;

/** The same axis with those lanes only; undefined where there is none. */
export function storyPicture(timeline: Timeline, compact: boolean): Picture | undefined {
  const lanes = timeline.lanes.filter(
    ({ group, label }) => storyGroups.includes(group) && !label.includes('errors'),
  );
  if (lanes.length === 0) return undefined;
  const rows = lanes.map(({ role, label, bars, node }) => ({
    ...{ role, bars },
    label: `${label} ${role === 'victim' || role === 'successor' ? role : (node ?? '')}`,
  }));
  const width = compact ? 360 : leadWidth;
  const option = (dark: boolean): EChartsOption =>
    storyOption(timeline, rows, { dark, compact, width });
  return renderPicture(option, 76 + storyLaneHeight * lanes.length, width);
}

function storyOption(
  timeline: Timeline,
  rows: readonly Row[],
  { dark, compact, width }: { dark: boolean; compact: boolean; width: number },
): EChartsOption {
  const palette = dark ? palettes.dark : palettes.light;
  const left = compact ? 112 : 124;
  const right = 20;
  const [fromS, toS] = timeline.first;
  const view = { fromS, toS, widthPx: width - left - right };
  return {
    animation: false,
    textStyle: { fontFamily: 'system-ui, sans-serif', color: palette.text },
    grid: [{ left, right, top: 50, bottom: 26 }],
    xAxis: [timeAxis({ ...timeline, fromS, toS }, 0, palette)],
    yAxis: [laneAxis(rows, left, palette)],
    series: [laneSeries(rows, palette), marks(timeline, 0, view, palette)],
  };
}

/** The whole axis on white ground, as an SVG document of its own. */
export function timelineSvg(timeline: Timeline, operations: OperationColumns): string {
  const option = wholeAxis(timeline, operations)(false);
  return renderSvg(
    { ...option, backgroundColor: '#ffffff' },
    wideWidth,
    timelineHeight(timeline, wholeLook),
  );
}

/** One bar from the fault to the first commit, split into its steps. */
export const recoveryPicture = (steps: readonly RecoveryStep[], width = wideWidth): Picture =>
  renderPicture((dark) => recoveryOption(steps, dark), 96, width);

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
      axisLabel: { color, formatter: '{value} s', showMaxLabel: false },
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

export const renderSvg = (option: EChartsOption, width: number, height: number): string =>
  withPlainNames(() => {
    const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
    chart.setOption(option);
    const svg = renumber(chart.renderToSVGString());
    chart.dispose();
    return svg;
  });

/**
 * ECharts keeps what it measured by the text itself, in plain objects: a node or a label of the name
 * `__proto__` would change every object of the process. Without that accessor it is a name like others.
 */
function withPlainNames<T>(draw: () => T): T {
  const accessor = Object.getOwnPropertyDescriptor(Object.prototype, '__proto__');
  Reflect.deleteProperty(Object.prototype, '__proto__');
  try {
    return draw();
  } finally {
    // oxlint-disable-next-line no-extend-native -- it was there before
    if (accessor !== undefined) Object.defineProperty(Object.prototype, '__proto__', accessor);
  }
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
