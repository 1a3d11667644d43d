/** The heat map of the trials, as an SVG document: a row for each way to revoke, a column for each cell. */
import type { CellName } from './cells.ts';
import type { CellSummary, Ends, RowSummary } from './summary.ts';

const looks = {
  light: { ground: '#ffffff', text: '#1f2933', faint: '#66717d', empty: '#eef1f4' },
  dark: { ground: '#0d1117', text: '#e4e9ee', faint: '#9ba7b3', empty: '#1d242c' },
} as const;
export type Look = keyof typeof looks;

const colors: Readonly<Record<Ends, string>> = {
  lands: '#c2413b',
  hangs: '#b7791f',
  error: '#2f8553',
  nothing: '#7b8794',
};
const words: Readonly<Record<Ends, string>> = {
  lands: 'writes land',
  hangs: 'hangs',
  error: 'error',
  nothing: 'asks nothing',
};
const columns: Readonly<Record<CellName, string>> = {
  living: 'living',
  'cut-10': 'cut 10 s',
  base: 'cut 60 s',
  'cut-600': 'cut 10 min',
  frozen: 'frozen 60 s',
  idle: 'idle, 60 s',
  'revoked-at': 'revoked at attach',
  'revoked-after': 'revoked after it',
  'give-back': 'given back',
  reboot: 'initiator anew',
};
const order = Object.keys(columns) as CellName[];

const [nameWidth, worthWidth, cellWidth, rowHeight, top] = [190, 200, 92, 26, 64];

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export function heatMap(rows: readonly RowSummary[], look: Look): string {
  const { ground, text, faint } = looks[look];
  const width = nameWidth + order.length * cellWidth + worthWidth;
  const height = top + rows.length * rowHeight + 34;
  const label = (x: number, y: number, what: string, color: string = text, size = 12): string =>
    `<text x="${x}" y="${y}" fill="${color}" font-size="${size}">${escaped(what)}</text>`;
  const heads = order.map((cell, index) => {
    const x = nameWidth + index * cellWidth + cellWidth / 2;
    return `<text x="${x}" y="${top - 10}" fill="${text}" font-size="10.5" text-anchor="middle">${columns[cell]}</text>`;
  });
  const body = rows.flatMap((row, index) => {
    const y = top + index * rowHeight;
    const boxes = order.map((cell, column) =>
      box(row.cells.get(cell), { x: nameWidth + column * cellWidth, y, look }),
    );
    const name = label(
      8,
      y + 17,
      `${row.transport}, ${row.revocation === 'none' ? 'not revoked' : row.revocation}`,
    );
    return [name, ...boxes, label(nameWidth + order.length * cellWidth + 10, y + 17, row.worth)];
  });
  const legend =
    'The node that lost the volume: its worst answer in all trials, and in how many of them.';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif">`,
    `<rect width="100%" height="100%" fill="${ground}"/>`,
    label(8, 22, legend, faint, 13),
    ...heads,
    label(nameWidth + order.length * cellWidth + 10, top - 10, 'worth', text, 10.5),
    ...body,
    '</svg>\n',
  ].join('\n');
}

function box(
  summary: CellSummary | undefined,
  { x, y, look }: { readonly x: number; readonly y: number; readonly look: Look },
): string {
  const size = `x="${x + 1}" y="${y + 1}" width="${cellWidth - 2}" height="${rowHeight - 2}" rx="3"`;
  if (summary === undefined) return `<rect ${size} fill="${looks[look].empty}"/>`;
  const { ends, count, trials } = summary;
  const shown = `${words[ends]} ${count}/${trials.length}`;
  const middle = `x="${x + cellWidth / 2}" y="${y + 17}" text-anchor="middle"`;
  return `<rect ${size} fill="${colors[ends]}"/><text ${middle} fill="#ffffff" font-size="10.5">${shown}</text>`;
}
