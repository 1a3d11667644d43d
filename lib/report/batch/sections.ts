/** Sections of a batch’s page: the heat map as a table, the slowest phases, the trend. */
import { html } from 'hono/html';
import type { BatchCell, Batch } from '../../matrix/batch.ts';
import { heatMapOf, squareText } from './pictures.ts';
import { isPage, wantsPage, type AddressOf, type RunsOnPage } from './runs.ts';
import { wide, secondsShown, type Html } from '../html-parts.ts';
import { conditionsInWords, trendOf, type Trend, type TrendRow } from './trend.ts';
import { differenceText, rateText } from './markdown.ts';
import type { PhaseRow } from './phases.ts';

export function heatMapSection({ batch, addressOf }: RunsOnPage): Html | string {
  const map = heatMapOf(batch);
  if (map === undefined) return '';
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

/** Sections of a batch's page that look beyond its cells: the slowest phases, the trend. */
export function phasesSection(rows: readonly PhaseRow[], addressOf: AddressOf): Html | string {
  if (rows.length === 0) return '';
  return html`<section class="card"><h2>Slowest phases</h2>
${wide(
  'Slowest phases',
  html`<table><thead><tr><th>Step of the way back</th><th class="number">runs</th>
<th class="number">median</th><th class="number">slowest</th><th>Slowest run</th></tr></thead>
<tbody>${rows.map(
    ({ name, runs, medianS, slowestS, cell, folder }) => html`<tr><td>${name}</td>
<td class="number">${runs}</td><td class="number">${secondsShown(medianS)}</td>
<td class="number">${secondsShown(slowestS)}</td><td>${linked(cell, addressOf(folder))}</td></tr>`,
  )}</tbody></table>`,
)}
<p class="faint">From the end of the step before, or from the fault.</p></section>`;
}

const linked = (text: string, address: string | undefined): Html =>
  address === undefined ? html`${text}` : html`<a href="${address}">${text}</a>`;

/** Nothing without a baseline. */
export function trendSection(batch: Batch, baseline: Batch | undefined): Html | string {
  if (baseline === undefined) return '';
  const trend = trendOf(baseline, batch);
  const changed = trend.rows.filter(({ verdictChanged }) => verdictChanged).length;
  return html`<section class="card"><h2>Against the pinned baseline</h2>
<p>${changed === 0 ? 'No verdict changed' : `${changed} of ${trend.rows.length} verdicts changed`}
since ${baseline.name} of ${baseline.startedAt}.${others(trend)}</p>
${wide(
  'Against the pinned baseline',
  html`<table><thead><tr><th>Cell</th><th>was</th><th>is</th><th class="number">damaged, was</th>
<th class="number">is</th><th class="number">more or less (95 %)</th>
<th class="number">downtime, more or less</th></tr></thead>
<tbody>${trend.rows.map(trendRow)}</tbody></table>`,
)}
<h3>What else changed</h3>
<p>${conditionsInWords(trend.conditions)}</p>
${conditionsTable(trend)}</section>`;
}

const others = ({ added, gone }: Trend): string =>
  [
    added.length === 0 ? '' : ` New: ${added.join('; ')}.`,
    gone.length === 0 ? '' : ` No longer there: ${gone.join('; ')}.`,
  ].join('');

const trendRow = ({ label, was, is, verdictChanged, damage, downtimeS }: TrendRow): Html =>
  html`<tr class="${verdictChanged ? 'changed' : ''}"><td>${label}</td>
<td><span class="${was.verdict}-text">${was.verdict}</span></td>
<td><span class="${is.verdict}-text">${is.verdict}</span></td>
<td class="number">${rateText(was.damaged)}</td><td class="number">${rateText(is.damaged)}</td>
<td class="number">${differenceText(damage)}</td>
<td class="number">${downtimeS === null ? '–' : signed(downtimeS)}</td></tr>`;

const signed = (s: number): string =>
  `${s > 0 ? '+' : s < 0 ? '−' : ''}${secondsShown(Math.abs(s))}`;

const conditionsTable = ({ conditions: changed }: Trend): Html | string =>
  changed.length === 0
    ? ''
    : html`<table><thead><tr><th>What</th><th>was</th><th>is</th></tr></thead>
<tbody>${changed.map(
        ([name, was, is]) => html`<tr><th scope="row">${name}</th><td class="text">${was}</td>
<td class="text">${is}</td></tr>`,
      )}</tbody></table>`;
