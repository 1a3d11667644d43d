/** The heat map of a batch: each cell a square, coloured by its verdict. */
import type { EChartsOption } from 'echarts';
import type { Batch, BatchCell } from '../matrix/batch.ts';
import type { VerdictWord } from '../experiment/verdict.ts';
import { renderPicture, renderSvg, wideWidth, type Picture } from './pictures.ts';

/** In the order of the legend. */
const words = ['safe', 'exposed', 'lost', 'corrupt', 'inconclusive'] as const;

const colors: Readonly<Record<VerdictWord, string>> = {
  safe: '#5aa469',
  exposed: '#e0a030',
  lost: '#cf6a43',
  corrupt: '#b3261e',
  inconclusive: '#9aa5b1',
};

const rowHeight = 34;

export interface HeatMap {
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
 * The axis with the most labels runs across, the last of equals; all others together run down.
 * Undefined where there is no grid.
 */
export function heatMapOf({ axes, cells }: Pick<Batch, 'axes' | 'cells'>): HeatMap | undefined {
  const across = axes.toSorted((a, b) => a.labels.length - b.labels.length).at(-1);
  const inGrid = cells.filter(({ place }) => Object.keys(place).length > 0);
  if (across === undefined || inGrid.length === 0) return undefined;
  const down = axes.filter((axis) => axis !== across).map(({ name }) => name);
  const rowOf = ({ place }: BatchCell): string =>
    down.length === 0 ? '' : down.map((name) => place[name] ?? '').join(' · ');
  const rows = [...new Set(inGrid.map(rowOf))];
  const squares = inGrid.map((cell) => ({
    column: across.labels.indexOf(cell.place[across.name] ?? ''),
    row: rows.indexOf(rowOf(cell)),
    cell,
  }));
  return { columns: across.labels, rows, squares };
}

const heightOf = ({ rows }: HeatMap): number => 96 + rowHeight * rows.length;

export const heatMapPicture = (map: HeatMap): Picture =>
  renderPicture((dark) => option(map, dark), heightOf(map));

/** On white ground, as an SVG document of its own. */
export const heatMapSvg = (map: HeatMap): string =>
  renderSvg({ ...option(map, false), backgroundColor: '#ffffff' }, wideWidth, heightOf(map));

function option({ columns, rows, squares }: HeatMap, dark: boolean): EChartsOption {
  const color = dark ? '#e4e9ee' : '#1f2933';
  const longest = Math.max(...rows.map((row) => row.length));
  const axis = { axisTick: { show: false }, axisLine: { show: false } };
  return {
    animation: false,
    textStyle: { fontFamily: 'system-ui, sans-serif' },
    grid: { left: Math.min(24 + longest * 6.6, 520), right: 12, top: 66, bottom: 8 },
    xAxis: {
      ...axis,
      type: 'category',
      position: 'top',
      data: [...columns],
      axisLabel: { color, interval: 0 },
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
        label: { formatter: squareText(cell) },
      })),
      label: { show: true, color: '#10171e' },
      itemStyle: { borderColor: dark ? '#1c2229' : '#ffffff', borderWidth: 2 },
    },
  };
}

/** The word; with repeats, how many events were damaged. A cell that was not expected is marked. */
function squareText({ verdict, damaged, asExpected }: BatchCell): string {
  const mark = asExpected === false ? ' !' : '';
  return damaged.of > 1 ? `${verdict} ${damaged.count}/${damaged.of}${mark}` : `${verdict}${mark}`;
}
