/** The time axis as an ECharts option: one function for the interactive chart and for the static picture. */
import type {
  CustomSeriesOption,
  EChartsOption,
  LineSeriesOption,
  ScatterSeriesOption,
  XAXisComponentOption,
  YAXisComponentOption,
} from 'echarts';
import {
  describeOperation,
  type OperationColumns,
  type AboutOperations,
  type PlotData,
  type PreparedOperations,
  type Series,
} from './operations.ts';
import { barColor, darkBarText, palettes, type Palette, type Role, type Tone } from './palette.ts';

/** A stretch of time, seconds after the fault. `fromS` equals `toS` for a moment. */
export interface Bar {
  readonly fromS: number;
  readonly toS: number;
  readonly tone: Tone;
  /** Short, drawn on the bar where it fits. */
  readonly label: string;
}

export interface Lane {
  /** What kind of thing, e.g. `pods`; lanes of one group stand together. */
  readonly group: string;
  readonly role: Role;
  readonly node: string | null;
  readonly label: string;
  readonly bars: readonly Bar[];
}

export interface Timeline {
  /** What time counts from: the fault, or the start of a run without one. */
  readonly zero: string;
  readonly fromS: number;
  readonly toS: number;
  readonly lanes: readonly Lane[];
  /** Shaded across everything: exposure. */
  readonly exposure: Bar | null;
  /** Vertical lines across everything, those that matter most first: fault, remedy, heal, the phases. */
  readonly moments: readonly Bar[];
  /** What is shown first: the fault and the hand-over; the whole axis where there was none. */
  readonly first: readonly [number, number];
  /** MiB written per device since it was attached. */
  readonly written: readonly Series[];
}

export interface PageData {
  readonly timeline: Timeline;
  readonly operations: AboutOperations;
  readonly records: readonly RecordRow[];
}

export type RecordRow = readonly [
  id: number,
  atS: number,
  kind: string,
  source: string,
  text: string,
];

export interface View {
  readonly fromS: number;
  readonly toS: number;
  readonly widthPx: number;
}

/** `compact` for narrow screens; of the `closed` roles only the heading is shown. */
export interface Look extends View {
  readonly dark: boolean;
  readonly compact: boolean;
  readonly closed: ReadonlySet<Role>;
}

/** `label`: as it stands beside the row. A heading has no bars. */
export interface Row extends Pick<Lane, 'role' | 'label' | 'bars'> {
  readonly heading?: boolean;
}

const roleTitles: Readonly<Record<Role, string>> = {
  run: 'Run',
  victim: 'Victim',
  successor: 'Successor',
  'control-plane': 'Control plane',
  other: 'Other nodes',
};
/** Roles of one node, which their heading names. */
const isOneNode = (role: Role): boolean => role === 'victim' || role === 'successor';

export const rolesIn = ({
  lanes,
}: Pick<Timeline, 'lanes'>): { readonly role: Role; readonly title: string }[] =>
  [...new Set(lanes.map(({ role }) => role))].map((role) => {
    const node = isOneNode(role) ? lanes.find((lane) => lane.role === role)?.node : null;
    return { role, title: node ? `${roleTitles[role]} ${node}` : roleTitles[role] };
  });

/** Lanes under a heading for each role, which opens and closes them. */
export const rowsOf = (timeline: Timeline, closed: ReadonlySet<Role>): Row[] =>
  rolesIn(timeline).flatMap(({ role, title }) => {
    const isClosed = closed.has(role);
    const lanes = timeline.lanes.filter((lane) => lane.role === role && !isClosed);
    const many = role === 'other' || role === 'control-plane';
    return [
      { label: `${isClosed ? '▸' : '▾'} ${title}`, role, heading: true, bars: [] },
      ...lanes.map(({ label, node, bars }) => ({
        ...{ role, bars, label: many ? [label, node].filter(Boolean).join(' ') : label },
      })),
    ];
  });

const laneHeight = 21;
const plotHeight = 104;
export const topSpace = 84;
/** Whether each plot's axis is logarithmic. */
const plots = [false, true, true, false];
/** A narrow plot's title and legend stand one over the other. */
const marginsOf = (compact: boolean): { left: number; right: number; gap: number } =>
  compact ? { left: 112, right: 8, gap: 68 } : { left: 190, right: 20, gap: 52 };
const paletteOf = (dark: boolean): Palette => (dark ? palettes.dark : palettes.light);

/** Height of the whole drawing, px. */
export const timelineHeight = (
  timeline: Timeline,
  { closed, compact }: Pick<Look, 'closed' | 'compact'>,
): number =>
  topSpace +
  rowsOf(timeline, closed).length * laneHeight +
  plots.length * (marginsOf(compact).gap + plotHeight) +
  40;

export function timelineOption(
  timeline: Timeline,
  prepared: PreparedOperations,
  view: PlotData,
  look: Look,
): EChartsOption {
  const { dark, compact, closed } = look;
  const palette = paletteOf(dark);
  const { left, right, gap } = marginsOf(compact);
  const rows = rowsOf(timeline, closed);
  const lanesHeight = rows.length * laneHeight;
  const plotTop = (index: number): number =>
    topSpace + lanesHeight + gap + index * (plotHeight + gap);
  const grids = [
    { left, right, top: topSpace, height: lanesHeight },
    ...plots.map((_, index) => ({ left, right, top: plotTop(index), height: plotHeight })),
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
    legend: plots.map((_, index) => ({
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
      ...plots.map(
        (log, index): YAXisComponentOption => ({
          type: log ? 'log' : 'value',
          gridIndex: index + 1,
          splitNumber: 3,
          axisLabel: { color: palette.faint, fontSize: 10 },
          axisLine: { show: true, lineStyle: { color: palette.line } },
          splitLine: { lineStyle: { color: palette.line, opacity: 0.6 } },
        }),
      ),
    ],
    axisPointer: { link: [{ xAxisIndex: 'all' }], snap: false },
    tooltip: {
      trigger: 'item',
      renderMode: 'richText',
      confine: true,
      formatter: (hovered) => describeHovered(hovered, timeline.zero, prepared.columns, titles),
    },
    dataZoom: [
      {
        type: 'slider',
        xAxisIndex: [...grids.keys()],
        filterMode: 'none',
        top: 8,
        height: 22,
        left,
        right,
        labelFormatter: (value: number) => sinceZero(timeline.zero, Math.round(value * 100) / 100),
        textStyle: { color: palette.faint },
        showDataShadow: false,
        borderColor: palette.line,
      },
      // Dragging chooses a stretch (browser/page.ts).
      {
        type: 'inside',
        xAxisIndex: [...grids.keys()],
        filterMode: 'none',
        zoomOnMouseWheel: 'ctrl',
        moveOnMouseMove: false,
      },
    ],
    series: [laneSeries(rows, palette), ...series, ...allMarks(timeline, look)],
  };
}

export function viewOption(
  timeline: Timeline,
  prepared: PreparedOperations,
  view: PlotData,
  look: Look,
): EChartsOption {
  const series = plotSeries(timeline, prepared, view, look.dark);
  return {
    title: plotTitles(view, series).map((text) => ({ text })),
    series: [...series, ...allMarks(timeline, look)],
  };
}

function sinceZero(zero: string, seconds: number): string {
  const rounded = Number(seconds.toFixed(Math.abs(seconds) < 1e4 ? 4 : 1));
  return rounded === 0 ? zero : `${rounded > 0 ? '+' : '−'}${Math.abs(rounded)} s`;
}

export const timeAxis = (
  { zero, fromS, toS }: Pick<Timeline, 'zero' | 'fromS' | 'toS'>,
  gridIndex: number,
  palette: Palette,
): XAXisComponentOption => ({
  type: 'value',
  gridIndex,
  min: fromS,
  max: toS,
  axisLabel: {
    color: palette.faint,
    formatter: (value: number) => sinceZero(zero, value),
    hideOverlap: true,
  },
  axisLine: { lineStyle: { color: palette.line } },
  splitLine: { lineStyle: { color: palette.line, opacity: 0.6 } },
  axisPointer: {
    show: true,
    label: {
      show: gridIndex === 0,
      formatter: ({ value }) => sinceZero(zero, Number(Number(value).toFixed(2))),
    },
  },
});

export const laneAxis = (
  rows: readonly Row[],
  left: number,
  palette: Palette,
): YAXisComponentOption => ({
  type: 'category',
  gridIndex: 0,
  inverse: true,
  // A click on a heading opens or closes what is below it.
  triggerEvent: true,
  data: rows.map(({ label: value, heading, role }) =>
    heading === true
      ? { value, textStyle: { color: palette.roles[role], fontWeight: 'bold' } }
      : { value },
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
});

/** Bars of all rows: value = [from, to, row]. */
export function laneSeries(rows: readonly Row[], palette: Palette): CustomSeriesOption {
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
    })),
    renderItem(params, api) {
      const [from = 0, y = 0] = api.coord([api.value(0), api.value(2)]);
      const [to = 0] = api.coord([api.value(1), api.value(2)]);
      const width = Math.max(to - from, 2);
      const [, rowHeight = 0] = (api.size?.([0, 1]) ?? []) as number[];
      const height = rowHeight - 6;
      const { bar, row } = bars[params.dataIndex] ?? {};
      const { label = '', tone = 'neutral' } = bar ?? {};
      // Bars that begin left of the view keep their label in sight.
      const system = params.coordSys as unknown as { readonly x: number; readonly width: number };
      const visibleFrom = Math.max(from, system.x);
      const visible = Math.min(from + width, system.x + system.width) - visibleFrom;
      const rect = {
        type: 'rect' as const,
        shape: { x: from, y: y - height / 2, width, height, r: 2 },
        style: { fill: barColor(tone, row?.role ?? 'run', palette) },
      };
      if (visible < label.length * 6 + 8) return rect;
      const fill = tone === 'warn' ? darkBarText : palette.barText;
      const text = {
        type: 'text' as const,
        silent: true,
        style: {
          text: label,
          x: visibleFrom + 4,
          y,
          fontSize: 10.5,
          fill,
          verticalAlign: 'middle',
        },
      } as const;
      return { type: 'group', children: [rect, text] };
    },
  };
}

type PlotSeries = (LineSeriesOption | ScatterSeriesOption) & { readonly xAxisIndex: number };
type ColorOf = (name: string, index: number) => string;

const lineSeries = (
  lines: readonly Series[],
  axis: number,
  color: ColorOf,
  { id, step = false }: { readonly id: string; readonly step?: boolean },
): PlotSeries[] =>
  lines.map(({ name, points }, index) => ({
    id: `${id} ${name}`,
    type: 'line',
    name,
    xAxisIndex: axis,
    yAxisIndex: axis,
    // '-' is ECharts' word for nothing.
    data: points.map(([atS, value]) => [atS, value ?? '-']),
    // The tooltip at the pointer's time has all lines; that of one hit line would have this one only.
    silent: true,
    showSymbol: false,
    symbolSize: 5,
    step: step ? 'end' : false,
    lineStyle: { width: 1.4, type: name.startsWith('inside') ? 'dashed' : 'solid' },
    color: color(name, index),
  }));

/** Value = [seconds, ms, index of the operation]. */
const pointSeries = (
  name: string,
  data: readonly (readonly [number, number, number])[],
  color: string,
  look: Pick<ScatterSeriesOption, 'id' | 'symbol' | 'symbolSize'>,
): PlotSeries => ({
  ...look,
  id: `${look.id} ${name}`,
  type: 'scatter',
  name,
  xAxisIndex: 2,
  yAxisIndex: 2,
  data: data.map((each) => [...each]),
  itemStyle: { color, opacity: 0.9 },
  z: 4,
});

const troubleSuffix = ': failed or unknown';

function plotSeries(
  timeline: Timeline,
  prepared: PreparedOperations,
  view: PlotData,
  dark: boolean,
): PlotSeries[] {
  const palette = paletteOf(dark);
  const { rates, slowest, pauses, points } = view;
  const byNumber: ColorOf = (_, index) =>
    palette.lines[index % palette.lines.length] ?? palette.text;
  const roles = new Map(timeline.lanes.map(({ node, role }) => [node ?? '', role]));
  /** A line of the victim or of its successor has that one's colour. */
  const byNode: ColorOf = (name, index) => {
    const known = name.split(' ').map((word) => roles.get(word));
    const role = known.find((found) => found !== undefined);
    return role !== undefined && isOneNode(role) ? palette.roles[role] : byNumber(name, index);
  };
  const lines = points === null ? slowest : slowest.map(({ name }) => ({ name, points: [] }));
  return [
    ...lineSeries(rates, 1, byNode, { id: 'rate', step: true }),
    ...lineSeries(lines, 2, byNode, { id: 'slowest' }),
    ...operationPoints(prepared, view, palette, byNode),
    ...lineSeries(pauses, 3, byNumber, { id: 'pause', step: true }),
    ...lineSeries(timeline.written, 4, byNode, { id: 'written' }),
  ];
}

/** Single operations; from afar, of each interval the slowest that went wrong. */
function operationPoints(
  { columns, clients, lines }: PreparedOperations,
  { points, troubles }: PlotData,
  palette: Palette,
  color: ColorOf,
): PlotSeries[] {
  const all = (points ?? []).map((index) => ({ index, ...describeOperation(columns, index) }));
  const place = ({ endS, latencyMs, index }: (typeof all)[number]) =>
    [endS, Math.max(latencyMs, 0.001), index] as const;
  const good = lines.map((name, number) => {
    const data = all.filter(
      ({ outcome, client, node }) => outcome === 'ok' && `${client} → ${node}` === name,
    );
    const look = { id: 'each', symbol: 'circle', symbolSize: 5 };
    return pointSeries(name, data.map(place), color(name, number), look);
  });
  const bad = clients.map((client, number) => {
    const far = (troubles[number]?.points ?? []).flatMap(([atS, ms]) =>
      ms === null ? [] : [[atS, ms, -1] as const],
    );
    const near = all.filter((each) => each.outcome !== 'ok' && each.client === client);
    const look = { id: 'trouble', symbol: 'diamond', symbolSize: 7 };
    const data = points === null ? far : near.map(place);
    return pointSeries(`${client}${troubleSuffix}`, data, palette.tones.bad, look);
  });
  return [...good, ...bad];
}

function plotTitles({ widthS, points }: PlotData, series: readonly PlotSeries[]): string[] {
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

/** Names for a plot's legend. Lines of the latency plot are the rate plot's, with the same colours. */
const namesIn = (series: readonly PlotSeries[], axis: number): string[] => {
  const shown = series.filter(({ xAxisIndex }) => xAxisIndex === axis);
  const names = [...new Set(shown.map(({ name }) => String(name)))];
  return axis === 2 ? names.filter((name) => name.endsWith(troubleSuffix)) : names;
};

function allMarks(timeline: Timeline, look: Look): LineSeriesOption[] {
  const { left, right } = marginsOf(look.compact);
  const view = { ...look, widthPx: look.widthPx - left - right };
  return [0, ...plots.map((_, index) => index + 1)].map((axis) =>
    marks(timeline, axis, view, paletteOf(look.dark)),
  );
}

/** The exposure and the moments on one grid; words only on the first, none over another. */
export function marks(
  { exposure, moments }: Timeline,
  axis: number,
  view: View,
  palette: Palette,
): LineSeriesOption {
  const band = exposure === null ? [] : [exposure];
  const levels = labelLevels([...band, ...moments], view);
  const label = (bar: Bar, color: string) => {
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
const labelRows = 3;
const labelLetterPx = 6.2;
/** Free beside the axis in every drawing. */
const edgePx = 8;

/**
 * The row of each label, from the lanes upwards, and on which side of its place it stands, so that it does not stick
 * out. `bars`: what matters most first; a label that would cover an earlier one is left out.
 */
function labelLevels(
  bars: readonly Bar[],
  { fromS, toS, widthPx }: View,
): Map<Bar, { readonly level: number; readonly align: 'center' | 'right' }> {
  const taken: (readonly [number, number])[][] = Array.from({ length: labelRows }, () => []);
  const levels = new Map<Bar, { level: number; align: 'center' | 'right' }>();
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

/** The parts of ECharts' tooltip parameters that are used. */
interface Hovered {
  readonly seriesType?: string;
  readonly seriesName?: string;
  readonly name: string;
  readonly value?: unknown;
  readonly axisIndex?: number;
  readonly axisValue?: unknown;
}

const trimmed = (value: number): number => Number(value.toFixed(3));
const numbersOf = ({ value }: Hovered): number[] => value as number[];

function describeHovered(
  hovered: Hovered | readonly Hovered[],
  zero: string,
  columns: OperationColumns,
  plotNames: readonly string[],
): string {
  if (!('length' in hovered)) return describeItem(hovered, zero, columns);
  const lines = hovered.filter(
    (each) => each.seriesType === 'line' && Number.isFinite(numbersOf(each)?.[1]),
  );
  const [first] = lines;
  if (first === undefined) return '';
  const shown = plotNames.flatMap((name, index) => {
    const own = lines.filter(({ axisIndex }) => axisIndex === index + 1);
    const values = own.map((each) => `  ${each.seriesName}: ${trimmed(numbersOf(each)[1] ?? 0)}`);
    return own.length === 0 ? [] : [name, ...values];
  });
  return [sinceZero(zero, trimmed(Number(first.axisValue))), ...shown].join('\n');
}

function describeItem(item: Hovered, zero: string, columns: OperationColumns): string {
  const [from = 0, to = 0, index = -1] = numbersOf(item);
  if (item.seriesType === 'custom') {
    const lasted = from === to ? '' : ` to ${sinceZero(zero, to)} (${trimmed(to - from)} s)`;
    return `${item.name}\n${sinceZero(zero, from)}${lasted}`;
  }
  if (item.seriesType !== 'scatter' || index < 0) {
    return `${item.seriesName}\n${sinceZero(zero, from)}: ${trimmed(to)}`;
  }
  const { id, node, kind, outcome, error, latencyMs } = describeOperation(columns, index);
  const why = error === '' ? '' : `\n${error.slice(0, 120)}`;
  return `${kind} ${id} on ${node}: ${outcome}\n${sinceZero(zero, from)}, after ${latencyMs} ms${why}`;
}
