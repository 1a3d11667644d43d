/** The heat map of a batch as a picture: each cell a square, coloured by its verdict. */
import { html, raw } from 'hono/html';
import type { Batch, BatchCell } from '../../batch/index.ts';
import type { VerdictWord } from '../../judge/index.ts';
import type { Html } from '../html-parts.ts';

/** As style.css has them for the page. */
export const squareColors: Readonly<Record<VerdictWord, string>> = {
  safe: '#1f7a3d',
  exposed: '#e0a030',
  lost: '#b4501e',
  corrupt: '#b3261e',
  inconclusive: '#59646f',
};

export type HeatMap = ReturnType<typeof gridOf>;

/**
 * The axis with the most labels, the last of equals, against all others together. The longer side runs
 * down: a page grows downwards, and a phone is narrow. Undefined where there is no grid.
 */
export function heatMapOf(batch: Pick<Batch, 'axes' | 'cells'>): HeatMap | undefined {
  const cells = batch.cells.filter(({ place }) => Object.keys(place).length > 0);
  if (batch.axes.length === 0 || cells.length === 0) return undefined;
  return gridOf({ ...batch, cells });
}

function gridOf({ axes, cells }: Pick<Batch, 'axes' | 'cells'>) {
  const main =
    axes.length === 1
      ? undefined
      : axes.toSorted((a, b) => a.labels.length - b.labels.length).at(-1);
  const others = axes.filter((axis) => axis !== main).map(({ name }) => name);
  const otherOf = ({ place }: BatchCell): string =>
    others.map((name) => named(name, place[name] ?? '')).join(' · ');
  const mainOf = ({ place }: BatchCell): string =>
    main === undefined ? 'verdict' : named(main.name, place[main.name] ?? '');
  const labels = main?.labels.map((label) => named(main.name, label)) ?? ['verdict'];
  const mains = { name: main?.name, labels, of: mainOf };
  const rest = { name: others.join(' · '), labels: [...new Set(cells.map(otherOf))], of: otherOf };
  const [across, down] = mains.labels.length <= rest.labels.length ? [mains, rest] : [rest, mains];
  return {
    /** Which axes run across and down, `remedy · link`; undefined: nothing runs across. */
    across: across.name,
    down: down.name ?? '',
    columns: across.labels,
    rows: down.labels,
    squares: cells.map((cell) => ({
      ...{ cell, column: across.labels.indexOf(across.of(cell)) },
      row: down.labels.indexOf(down.of(cell)),
    })),
  };
}

/** A bare number or a yes says nothing without its axis. */
const named = (axis: string, label: string): string =>
  /^(\d|true$|false$)/.test(label) ? `${axis} ${label}` : label;

const lineHeight = 15;
const characterWidth = 7;
const rowHeight = 32;
const gap = 2;
const padding = 8;

/** Broken at spaces; a word that is longer than a line has one of its own. */
function wrapped(label: string, charactersPerLine: number): string[] {
  const lines = [''];
  for (const part of label.split(/(?<= )/)) {
    const last = lines.at(-1) ?? '';
    const fits = `${last}${part}`.trimEnd().length <= charactersPerLine;
    if (fits || last === '') lines[lines.length - 1] = `${last}${part}`;
    else lines.push(part);
  }
  return lines.map((line) => line.trimEnd());
}

/** Where README shows it the ground is not ours: text has an outline, for a page whose theme is not the system's. */
const style = `text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2933; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
.square text { font-weight: 600; text-anchor: middle; fill: #ffffff; stroke: none; }
.square.exposed text { fill: #10171e; }
${Object.entries(squareColors)
  .map(([word, color]) => `.${word} rect { fill: ${color}; }`)
  .join('\n')}
@media (prefers-color-scheme: dark) { text { fill: #e4e9ee; stroke: #0d1117; } }`;

/** An SVG document on transparent ground, for light and dark pages. */
export async function heatMapSvg({ rows, columns, squares }: HeatMap): Promise<string> {
  const widest = (texts: readonly string[]): number =>
    Math.max(...texts.map((text) => text.length)) * characterWidth;
  const rowLabels = rows.map((row) => wrapped(row, 60));
  const left = widest(rowLabels.flat()) + padding;
  const words = columns.flatMap((label) => label.split(' '));
  const texts = [...squares.map(({ cell }) => squareText(cell)), ...words];
  const width = Math.max(110, widest(texts) + 2 * padding);
  const heads = columns.map((label) => wrapped(label, Math.floor(width / characterWidth)));
  const top = Math.max(...heads.map((lines) => lines.length)) * lineHeight + padding;
  const lines = (broken: readonly string[], x: number, y: number): Html[] =>
    broken.map((text, at) => html`<text x="${x}" y="${y + at * lineHeight}">${text}</text>\n`);
  const xOf = (column: number): number => left + column * (width + gap);
  const yOf = (row: number): number => top + row * (rowHeight + gap);
  const middleOf = (row: number): number => yOf(row) + rowHeight / 2 + 5;
  const [w, h] = [xOf(columns.length), yOf(rows.length)];
  const page =
    await html`<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}">
<style>${raw(style)}</style>
${heads.map((head, column) =>
  lines(head, xOf(column) + padding / 2, top - padding - (head.length - 1) * lineHeight),
)}${rowLabels.map((label, row) =>
  lines(label, 0, middleOf(row) - ((label.length - 1) * lineHeight) / 2),
)}${squares.map(
  ({ row, column, cell }) => html`<g class="square ${cell.verdict}">
<rect x="${xOf(column)}" y="${yOf(row)}" width="${width}" height="${rowHeight}" rx="4"/>
<text x="${xOf(column) + width / 2}" y="${middleOf(row)}">${squareText(cell)}</text></g>
`,
)}</svg>
`;
  return String(page);
}

/** The word; with repeats, how many events were damaged. A cell that was not expected is marked. */
export function squareText({ verdict, damaged, asExpected }: BatchCell): string {
  const mark = asExpected === false ? ' !' : '';
  return damaged.of > 1 ? `${verdict} ${damaged.count}/${damaged.of}${mark}` : `${verdict}${mark}`;
}
