/** The heat map of a batch's page: a table, so that it is read by everybody and links to its runs. */
import { html } from 'hono/html';
import type { BatchCell } from '../../matrix/batch.ts';
import { heatMapOf, squareText, type HeatMap } from './pictures.ts';
import { isPage, wantsPage, type AddressOf, type RunsOnPage } from './runs.ts';
import { wide, type Html } from '../html-parts.ts';

export function heatMapSection({ batch, addressOf }: RunsOnPage): Html | string {
  const wideMap = heatMapOf(batch);
  if (wideMap === undefined) return '';
  const map = upright(wideMap);
  const square = (row: number, column: number): Html => {
    const found = map.squares.find((each) => each.row === row && each.column === column);
    return found === undefined ? html`<td></td>` : squareOf(found.cell, addressOf);
  };
  return html`<section class="card"><h2>Verdicts</h2>
${wide(
  'Verdict of each cell',
  html`<table class="map">
<thead><tr><th>${map.down} ↓${map.across === undefined ? '' : html`<br>${map.across} →`}</th>${map.columns.map((label) => html`<th scope="col">${label}</th>`)}</tr></thead>
<tbody>${map.rows.map(
    (label, row) => html`<tr><th scope="row">${label}</th>
${map.columns.map((_, column) => square(row, column))}</tr>`,
  )}</tbody></table>`,
)}
<p class="faint">A square leads to the worst run of its cell; with repeats it says how many fault
events were damaged; where that run has no page, to its row. ! marks what was not expected.</p></section>`;
}

/** A page grows downwards, and a phone is narrow: the longer side runs down. */
const upright = (map: HeatMap): HeatMap =>
  map.columns.length <= map.rows.length
    ? map
    : {
        ...{ across: map.down, down: map.across ?? '' },
        columns: map.rows,
        rows: map.columns,
        squares: map.squares.map(({ row, column, cell }) => ({ row: column, column: row, cell })),
      };

/** The run that a cell's word comes from. */
const toldBy = ({ runs, verdict }: BatchCell): BatchCell['runs'][number] | undefined =>
  runs.find((run) => run.verdict === verdict) ?? runs[0];

function squareOf(cell: BatchCell, addressOf: AddressOf): Html {
  const run = toldBy(cell);
  const found = run === undefined ? undefined : addressOf(run.folder);
  // The row says how to make the page.
  const address = isPage(found) || !wantsPage(cell) ? found : `#${cell.id}`;
  const text = squareText(cell);
  return html`<td class="square ${cell.verdict}" title="${run?.sentence ?? cell.label}">
${address === undefined ? text : html`<a href="${address}">${text}</a>`}</td>`;
}
