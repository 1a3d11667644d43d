/** The heat map of a batch as a picture: each cell a square, coloured by its verdict. */
import type { EChartsOption } from 'echarts';
import type { Batch, BatchCell } from '../../matrix/batch.ts';
import type { VerdictWord } from '../../experiment/verdict/verdict.ts';
import { renderSvg, wideWidth } from '../pictures.ts';

/** In the order of the legend. */
const words = ['safe', 'exposed', 'lost', 'corrupt', 'inconclusive'] as const;

const colors: Readonly<Record<VerdictWord, string>> = {
  safe: '#5aa469',
  exposed: '#e0a030',
  lost: '#b4501e',
  corrupt: '#b3261e',
  inconclusive: '#9aa5b1',
};

/** Legible on them. */
const textOn = (word: VerdictWord): string =>
  word === 'lost' || word === 'corrupt' ? '#ffffff' : '#10171e';

const rowHeight = 34;

export interface HeatMap {
  /** Which axes run across and down, `remedy · link`; undefined: nothing runs across. */
  readonly across: string | undefined;
  readonly down: string;
  /** Labels of the axis that runs across. */
  readonly columns: readonly string[];
  /** The other axes, combined. */
  readonly rows: readonly string[];
  readonly squares: readonly {
    readonly column: number;
    readonly row: number;
    readonly cell: BatchCell;
  }[];
}

/**
 * The axis with the most labels runs across, the last of equals; all others together run down. The only
 * one runs down, where its labels have room. Undefined where there is no grid.
 */
export function heatMapOf({ axes, cells }: Pick<Batch, 'axes' | 'cells'>): HeatMap | undefined {
  const inGrid = cells.filter(({ place }) => Object.keys(place).length > 0);
  if (axes.length === 0 || inGrid.length === 0) return undefined;
  const across =
    axes.length === 1
      ? undefined
      : axes.toSorted((a, b) => a.labels.length - b.labels.length).at(-1);
  const down = axes.filter((axis) => axis !== across).map(({ name }) => name);
  const rowOf = ({ place }: BatchCell): string =>
    down.map((name) => named(name, place[name] ?? '')).join(' · ');
  const rows = [...new Set(inGrid.map(rowOf))];
  const columns = across?.labels.map((label) => named(across.name, label)) ?? ['verdict'];
  const squares = inGrid.map((cell) => ({
    column: across === undefined ? 0 : across.labels.indexOf(cell.place[across.name] ?? ''),
    row: rows.indexOf(rowOf(cell)),
    cell,
  }));
  return { across: across?.name, down: down.join(' · '), columns, rows, squares };
}

/** A bare number or a yes says nothing without its axis. */
const named = (axis: string, label: string): string =>
  /^(\d|true$|false$)/.test(label) ? `${axis} ${label}` : label;

const lineHeight = 14;
const characterWidth = 6.6;
const gridRight = 12;

const gridLeft = ({ rows }: HeatMap): number =>
  Math.min(24 + Math.max(...rows.map((row) => row.length)) * characterWidth, 520);

/** In lines that fit above a column. */
function columnLabels(map: HeatMap): string[] {
  const columnWidth = (wideWidth - gridLeft(map) - gridRight) / map.columns.length;
  return map.columns.map((label) => wrapped(label, Math.floor(columnWidth / characterWidth)));
}

/** Broken after spaces and hyphens; a part that is longer than a line has one of its own. */
function wrapped(label: string, charactersPerLine: number): string {
  const lines = [''];
  for (const part of label.split(/(?<=[ -])/)) {
    const last = lines.at(-1) ?? '';
    const fits = `${last}${part}`.trimEnd().length <= charactersPerLine;
    if (fits || last === '') lines[lines.length - 1] = `${last}${part}`;
    else lines.push(part);
  }
  return lines.map((line) => line.trimEnd()).join('\n');
}

const linesIn = (labels: readonly string[]): number =>
  Math.max(...labels.map((label) => label.split('\n').length));

const gridTop = (map: HeatMap): number => 52 + lineHeight * linesIn(columnLabels(map));

const heightOf = (map: HeatMap): number => gridTop(map) + 30 + rowHeight * map.rows.length;

/** On white ground, as an SVG document of its own. */
export const heatMapSvg = (map: HeatMap): string =>
  renderSvg({ ...option(map), backgroundColor: '#ffffff' }, wideWidth, heightOf(map));

function option(map: HeatMap): EChartsOption {
  const { rows, squares } = map;
  const color = '#1f2933';
  const axis = { axisTick: { show: false }, axisLine: { show: false } };
  return {
    animation: false,
    textStyle: { fontFamily: 'system-ui, sans-serif' },
    grid: { left: gridLeft(map), right: gridRight, top: gridTop(map), bottom: 8 },
    xAxis: {
      ...axis,
      type: 'category',
      position: 'top',
      data: columnLabels(map),
      axisLabel: { color, interval: 0, lineHeight },
    },
    yAxis: {
      ...axis,
      type: 'category',
      inverse: true,
      data: [...rows],
      axisLabel: { color, interval: 0 },
    },
    visualMap: {
      type: 'piecewise',
      orient: 'horizontal',
      left: 0,
      top: 0,
      textStyle: { color },
      dimension: 2,
      pieces: words.map((word, value) => ({ value, label: word, color: colors[word] })),
    },
    series: {
      type: 'heatmap',
      data: squares.map(({ column, row, cell }) => ({
        value: [column, row, words.indexOf(cell.verdict)],
        label: { formatter: squareText(cell), color: textOn(cell.verdict) },
      })),
      label: { show: true },
      itemStyle: { borderColor: '#ffffff', borderWidth: 2 },
    },
  };
}

/** The word; with repeats, how many events were damaged. A cell that was not expected is marked. */
export function squareText({ verdict, damaged, asExpected }: BatchCell): string {
  const mark = asExpected === false ? ' !' : '';
  return damaged.of > 1 ? `${verdict} ${damaged.count}/${damaged.of}${mark}` : `${verdict}${mark}`;
}
