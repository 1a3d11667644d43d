/** The table of a batch's cells: numbers, links to its runs, and what sorts, filters and compares them. */
import { html } from 'hono/html';
import type { BatchCell } from '../../matrix/batch.ts';
import { verdictWords } from '../../experiment/scenario.ts';
import { rateText } from './markdown.ts';
import { lacking, wantsPage, type RunsOnPage } from './runs.ts';
import { secondsShown, wide, type Html } from '../html-parts.ts';
import { explained } from '../terms.ts';
import { cellLosses } from '../loss-words.ts';
import { cellExpectation } from '../wording.ts';

export const cellsSection = (
  page: RunsOnPage,
): Html => html`<section class="card"><h2>${explained('Cells')}</h2>
<div class="tools"><label>Filter <input id="cell-words" type="search" size="24"></label>
<label>Verdict <select id="cell-verdict"><option value="">all</option>
${verdictWords.map((word) => html`<option>${word}</option>`)}</select></label>
<span class="faint" id="cell-count" role="status"></span>
<span class="faint">Choose two to compare them.</span></div>
<div id="comparison" hidden><h3>Two cells compared</h3><table><tbody></tbody></table></div>
${wide(
  'Cells',
  html`<table id="cells">
<thead><tr><td></td>${columns.map(
    ([name, style]) => html`<th class="${style}"><button type="button">${name}</button></th>`,
  )}</tr></thead>
<tbody>${page.batch.cells.map((cell) => cellRow(cell, page))}</tbody></table>`,
)}
<p class="faint">Numbers are medians over the runs. Damaged: how many of how many independent fault
events lost acknowledged commits or broke a structure, with Wilson's 95 % interval.
${page.batch.cells.some((cell) => lacking(cell, page).length > 0) ? withoutPage : ''}</p></section>`;

const withoutPage = html`A run whose link leads to its verdict.json has no page here:
<code>npx zx experiments/report.mjs</code> with the folder of the run makes it from the history, and
with the folder of the batch after it, this page with a link to it.`;

const columns = [
  ['Cell', ''],
  ['Verdict', ''],
  ['Expected', ''],
  ['damaged (95 %)', 'number'],
  ['commits', 'number'],
  ['downtime', 'number'],
  ['two could write', 'number'],
  ['second mount', 'number'],
  ['Runs', ''],
] as const;

function cellRow(cell: BatchCell, page: RunsOnPage): Html {
  const { label, median, verdict, silent, discarded, damaged, asExpected } = cell;
  const expected = cellExpectation(cell);
  const time = (s: number | null): Html =>
    html`<td class="number" data-key="${s ?? ''}">${s === null ? '–' : secondsShown(s)}</td>`;
  const share = damaged.of === 0 ? '' : damaged.count / damaged.of;
  return html`<tr id="${cell.id}" data-verdict="${verdict}"><td><input type="checkbox" aria-label="Compare ${label}"></td>
<td>${label}</td><td><span class="${verdict}-text">${verdict}</span>${silent > 0 ? ', silent' : ''}</td>
<td title="${cell.because}">${asExpected === false ? html`<strong>no: ${expected}</strong>` : expected}</td>
<td class="number" data-key="${share}">${rateText(damaged)}</td>
<td class="number" data-key="${median.lost ?? ''}">${cellLosses(cell)}</td>
${time(median.downtimeS)}${time(median.exposureS)}${time(median.secondMountS)}
<td>${cell.runs.map((run, index) => runLink(run, index, page))}
${discarded > 0 ? html`<span class="faint">(${discarded} discarded)</span>` : ''}${howToMake(cell, page)}</td></tr>`;
}

/** For the runs that a reader will want to look into. */
function howToMake(cell: BatchCell, page: RunsOnPage): Html | string {
  const folders = wantsPage(cell) ? lacking(cell, page) : [];
  if (folders.length === 0) return '';
  return html`<details class="make"><summary>no page yet</summary>This makes it, and a link to it:
<code>${page.remakeOf(folders)}</code></details>`;
}

function runLink(run: BatchCell['runs'][number], index: number, { addressOf }: RunsOnPage): Html {
  const text = `${index + 1}: ${run.verdict ?? 'failed'}`;
  const address = addressOf(run.folder);
  return address === undefined
    ? html`<span title="${run.sentence}">${text}</span> `
    : html`<a href="${address}" title="${run.sentence}">${text}</a> `;
}
