/** The page of a batch: one self-contained file, whose finding comes first. */
import { html } from 'hono/html';
import { verdictWords } from '../../scenario/index.ts';
import type { Batch, BatchCell } from '../../batch/index.ts';
import { renderDocument } from '../document.ts';
import { replayCard, type FirstScreen } from '../first-screen.ts';
import {
  card,
  closed,
  list,
  numbers,
  table,
  texts,
  wide,
  wideTable,
  type Html,
} from '../html-parts.ts';
import { secondsShown } from '../../core/index.ts';
import { cellLosses } from '../loss-words.ts';
import { scoreInWords } from '../mutant-score.ts';
import { explained } from '../terms.ts';
import { cellExpectation } from '../wording.ts';
import {
  batchExpectation,
  batchHeadlineOf,
  batchTitleOf,
  batchToneOf,
  pairFindings,
} from './findings.ts';
import { batchBasis, differenceText, lagLine, rateLine, rateText } from './markdown.ts';
import { slowestPhases, type VerdictOf } from './phases.ts';
import { heatMapOf, squareText } from './pictures.ts';
import { conditionsInWords, trendOf } from './trend.ts';

/** What the runs of a batch have to show, and how to make the pages that are not there. */
export interface BatchPage {
  readonly batch: Batch;
  /** Address of what a run's folder has to show; undefined where it has nothing. */
  readonly addressOf: (folder: string) => string | undefined;
  /** A shell command that makes the pages of these runs, then the batch's, which links to them. */
  readonly remakeOf: (folders: readonly string[]) => string;
  readonly verdictOf: VerdictOf;
  /** The pinned batch to compare with; undefined: none. */
  readonly baseline: Batch | undefined;
}

/** A complete HTML document; the same data gives the same bytes. */
export function renderBatchHtml(page: BatchPage): Promise<string> {
  const { batch } = page;
  const { inconclusiveBecause, replay } = batch;
  return renderDocument({
    title: batchTitleOf(batch),
    screen: screen(batch),
    main: html`${inconclusiveBecause.length === 0 ? '' : card('This batch proves nothing', list(inconclusiveBecause))}
${heatMapCard(page)}
${pairsCard(batch)}
${card(explained('Cells'), cells(page))}
${trendCard(page)}
${card(explained('Controls'), controls(batch))}
${contrasts(batch)}
${phasesCard(page)}
${replayCard(replay ?? 'not recorded')}`,
    scripts: { page: 'batch' },
  });
}

const screen = (batch: Batch): FirstScreen => ({
  top: `forcedetach · batch ${batch.name} · seed ${batch.seed}`,
  tone: batchToneOf(batch),
  headline: batchHeadlineOf(batch),
  sentence: batch.question,
  notes: [`${batch.sentence}.`],
  chips: [
    { text: batchExpectation[batch.verdict], alarm: batch.verdict === 'unexpected' },
    { text: batchBasis[batch.basis] },
  ],
});

const isPage = (address: string | undefined): boolean => address?.endsWith('/report.html') ?? false;

/** A reader wants to see why a cell is not safe. */
const wantsPage = ({ verdict }: BatchCell): boolean => verdict !== 'safe';

/** Folders of the cell's runs that have something to show and no page. */
const lacking = ({ runs }: BatchCell, { addressOf }: BatchPage): string[] =>
  runs
    .map(({ folder }) => folder)
    .filter((folder) => addressOf(folder) !== undefined && !isPage(addressOf(folder)));

const linked = (text: string, address: string | undefined, title?: string): Html => {
  const about = title === undefined ? '' : html` title="${title}"`;
  return address === undefined
    ? html`<span${about}>${text}</span>`
    : html`<a href="${address}"${about}>${text}</a>`;
};

function heatMapCard(page: BatchPage): Html | string {
  const map = heatMapOf(page.batch);
  if (map === undefined) return '';
  const square = (row: number, column: number): Html => {
    const found = map.squares.find((each) => each.row === row && each.column === column);
    return found === undefined ? html`<td></td>` : squareOf(found.cell, page);
  };
  return card(
    'Verdicts',
    html`${wide(
      'Verdict of each cell',
      html`<table class="map">
<thead><tr><th>${map.down} ↓${map.across === undefined ? '' : html`<br>${map.across} →`}</th>${map.columns.map((label) => html`<th scope="col">${label}</th>`)}</tr></thead>
<tbody>${map.rows.map(
        (label, row) => html`<tr><th scope="row">${label}</th>
${map.columns.map((_, column) => square(row, column))}</tr>`,
      )}</tbody></table>`,
    )}
<p class="faint">A square leads to the worst run of its cell; with repeats it shows how many fault
events were damaged. It leads to its row if that run has no page. ! marks what was not expected.</p>`,
  );
}

function squareOf(cell: BatchCell, { addressOf }: BatchPage): Html {
  // The run that the cell's word comes from.
  const run = cell.runs.find(({ verdict }) => verdict === cell.verdict) ?? cell.runs[0];
  const found = run === undefined ? undefined : addressOf(run.folder);
  // The row says how to make the page.
  const address = isPage(found) || !wantsPage(cell) ? found : `#${cell.id}`;
  const text = squareText(cell);
  return html`<td class="square ${cell.verdict}" title="${run?.sentence ?? cell.label}">
${address === undefined ? text : html`<a href="${address}">${text}</a>`}</td>`;
}

const mostFindings = 8;

/** What one change does, before any table of numbers. */
function pairsCard(batch: Batch): Html | string {
  const found = pairFindings(batch).map(({ text }) => text);
  const [first, more] = [found.slice(0, mostFindings), found.slice(mostFindings)];
  if (found.length === 0) return '';
  return card(
    'What one change does',
    html`<p class="faint">A pair: two cells that differ in this one thing.</p>${list(first)}
${more.length === 0 ? '' : closed(`${more.length} more`, list(more))}`,
  );
}

const numberColumns = ['damaged (95 %)', 'commits', 'downtime', 'two could write', 'second mount'];
const columns = ['Cell', 'Verdict', 'Expected', ...numberColumns, 'Runs'];

/** Sorted, filtered and compared by browser/batch.ts. */
const cells = (page: BatchPage): Html => html`
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
    (name) => html`<th class="${numberColumns.includes(name) ? 'number' : ''}">
<button type="button">${name}</button></th>`,
  )}</tr></thead>
<tbody>${page.batch.cells.map((cell) => cellRow(cell, page))}</tbody></table>`,
)}
<p class="faint">Numbers are medians over the runs. Damaged: how many of how many independent fault
events lost acknowledged commits or broke a structure, with Wilson's 95 % interval.
${page.batch.cells.some((cell) => lacking(cell, page).length > 0) ? withoutPage : ''}</p>`;

const withoutPage = html`A run whose link leads to its verdict.json has no page here:
<code>npx forcedetach report</code> with the folder of the run makes it from the history, and
with the folder of the batch after it, this page with a link to it.`;

function cellRow(cell: BatchCell, page: BatchPage): Html {
  const { label, median, verdict, silent, discarded, damaged, asExpected } = cell;
  const expected = cellExpectation(cell);
  const time = (s: number | null): Html =>
    html`<td class="number" data-key="${s ?? ''}">${s === null ? '–' : secondsShown(s)}</td>`;
  const share = damaged.of === 0 ? '' : damaged.count / damaged.of;
  const folders = wantsPage(cell) ? lacking(cell, page) : [];
  const howToMake = html`<details class="make"><summary>no page yet</summary>This makes it, and a link to it:
<code>${page.remakeOf(folders)}</code></details>`;
  return html`<tr id="${cell.id}" data-verdict="${verdict}"><td><input type="checkbox" aria-label="Compare ${label}"></td>
<td>${label}</td><td><span class="${verdict}-text">${verdict}</span>${silent > 0 ? ', silent' : ''}</td>
<td title="${cell.because}">${asExpected === false ? html`<strong>no: ${expected}</strong>` : expected}</td>
<td class="number" data-key="${share}">${rateText(damaged)}</td>
<td class="number" data-key="${median.lost ?? ''}">${cellLosses(cell)}</td>
${time(median.downtimeS)}${time(median.exposureS)}${time(median.secondMountS)}
<td>${cell.runs.map(({ folder, verdict, sentence }, index) => html`${linked(`${index + 1}: ${verdict ?? 'failed'}`, page.addressOf(folder), sentence)} `)}
${discarded > 0 ? html`<span class="faint">(${discarded} discarded)</span>` : ''}${folders.length === 0 ? '' : howToMake}</td></tr>`;
}

function trendCard({ batch, baseline }: BatchPage): Html | string {
  if (baseline === undefined) return '';
  const { rows, added, gone, conditions } = trendOf(baseline, batch);
  const changed = rows.filter(({ verdictChanged }) => verdictChanged).length;
  const word = ({ verdict }: BatchCell): Html =>
    html`<span class="${verdict}-text">${verdict}</span>`;
  const others = [
    added.length === 0 ? '' : ` New: ${added.join('; ')}.`,
    gone.length === 0 ? '' : ` No longer there: ${gone.join('; ')}.`,
  ];
  return card(
    'Against the pinned baseline',
    html`<p>${changed === 0 ? 'No verdict changed' : `${changed} of ${rows.length} verdicts changed`}
since ${baseline.name} of ${baseline.startedAt}.${others}</p>
${wideTable(
  'Against the pinned baseline',
  [
    ...['Cell', 'was', 'is'],
    ...numbers('damaged, was', 'is', 'more or less (95 %)', 'downtime, more or less'),
  ],
  rows.map(({ label, was, is, verdictChanged, damage, downtimeS }) => ({
    cells: [
      ...[label, word(was), word(is), rateText(was.damaged), rateText(is.damaged)],
      ...[differenceText(damage), downtimeS === null ? '–' : signed(downtimeS)],
    ],
    style: verdictChanged ? 'changed' : '',
  })),
)}
<h3>What else changed</h3>
<p>${conditionsInWords(conditions)}</p>
${conditions.length === 0 ? '' : table([['What', 'head'], ...texts('was', 'is')], conditions)}`,
  );
}

const signed = (s: number): string =>
  `${s > 0 ? '+' : s < 0 ? '−' : ''}${secondsShown(Math.abs(s))}`;

const controls = (batch: Batch): Html => html`
${wideTable(
  'Controls',
  [['', 'head'], '', ''],
  batch.controls.map(({ role, label, holds, trouble }) => ({
    cells: [role, label, holds ? 'holds' : trouble],
    style: holds ? '' : 'bad',
  })),
)}
<p class="faint">How good is the audit? ${scoreInWords()}.</p>
<p class="faint">How well did the machine keep up? ${rateLine(batch)}; ${lagLine(batch)}.</p>
<h3>${explained('Cells that ran once more, alone')}</h3>
${wideTable(
  'Cells that ran once more',
  [['', 'head'], '', ''],
  batch.checks.map(({ label, verdict, before, agrees }) => ({
    cells: [
      ...[label, `${verdict}, before ${before.join(', ')}`],
      agrees === null ? 'not comparable' : agrees ? 'agrees' : 'does not agree',
    ],
    style: agrees === false ? 'bad' : '',
  })),
)}`;

function contrasts({ contrasts: all }: Batch): Html | string {
  if (all.length === 0) return '';
  const [changed, same] = [
    all.filter((each) => each.changed > 0),
    all.filter((each) => each.changed === 0),
  ];
  return card(
    'What each axis did',
    html`<p class="faint">Pairs of cells that differ in this axis alone; lost and corrupt count as one.</p>
${changed.length === 0 ? html`<p>No change of one axis changed a verdict.</p>` : contrastTable(changed)}
${same.length === 0 ? '' : closed(`${same.length} that changed no verdict`, contrastTable(same))}`,
  );
}

const contrastTable = (rows: Batch['contrasts']): Html =>
  wideTable(
    'What each axis did',
    [...['Axis', 'from', 'to'], ...numbers('pairs', 'changed', 'better', 'worse')],
    rows.map(({ axis, from, to, pairs, changed, better }) => [
      ...[axis, from, to, pairs, changed, better, changed - better],
    ]),
  );

function phasesCard({ batch, verdictOf, addressOf }: BatchPage): Html | string {
  const rows = slowestPhases(batch, verdictOf);
  if (rows.length === 0) return '';
  return card(
    'Slowest phases',
    html`${wideTable(
      'Slowest phases',
      ['Step of the way back', ...numbers('runs', 'median', 'slowest'), 'Slowest run'],
      rows.map(({ name, runs, medianS, slowestS, cell, folder }) => [
        ...[name, runs, secondsShown(medianS), secondsShown(slowestS)],
        linked(cell, addressOf(folder)),
      ]),
    )}
<p class="faint">From the end of the step before, or from the fault.</p>`,
  );
}
