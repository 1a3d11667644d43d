/** The page of a batch: one self-contained file, whose finding comes first. */
import { html } from 'hono/html';
import { verdictWords } from '../../scenario/index.ts';
import type { Batch, BatchCell } from '../../batch/index.ts';
import { renderDocument } from '../document.ts';
import { replayCard, type FirstScreen } from '../first-screen.ts';
import {
  card,
  closed,
  type Column,
  explained,
  type Html,
  list,
  numbers,
  type Row,
  table,
  texts,
  wideTable,
} from '../html-parts.ts';
import { difference, secondsShown } from '../../core/index.ts';
import type { Verdict } from '../../judge/index.ts';
import { cellLosses } from '../loss-words.ts';
import { recoverySteps } from '../report-data.ts';
import { scoreInWords } from '../mutant-score.ts';
import { cellExpectation } from '../wording.ts';
import {
  batchBasis,
  batchExpectation,
  batchHeadlineOf,
  batchTitleOf,
  batchToneOf,
  differenceText,
  lagLine,
  pairFindings,
  rateLine,
  rateText,
} from './markdown.ts';
import { heatMapOf, squareText } from './pictures.ts';

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

const wantsPage = ({ verdict }: BatchCell): boolean => verdict !== 'safe';

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
  const { down, across, columns, rows, squares } = map;
  const corner = html`${down} ↓${across === undefined ? '' : html`<br>${across} →`}`;
  const grid = rows.map((label, row) => [
    label,
    ...columns.map((_, column) => {
      const found = squares.find((each) => each.row === row && each.column === column);
      return found === undefined ? '' : squareOf(found.cell, page);
    }),
  ]);
  return card(
    'Verdicts',
    html`${wideTable('Verdict of each cell', [[corner, 'head'], ...columns], grid, { class: 'map' })}
<p class="faint">A square leads to the worst run of its cell; with repeats it shows how many fault
events were damaged. It leads to its row if that run has no page. ! marks what was not expected.</p>`,
  );
}

function squareOf(cell: BatchCell, { addressOf }: BatchPage) {
  // The run that the cell's word comes from.
  const run = cell.runs.find(({ verdict }) => verdict === cell.verdict) ?? cell.runs[0];
  const found = run === undefined ? undefined : addressOf(run.folder);
  // The row says how to make the page.
  const address = isPage(found) || !wantsPage(cell) ? found : `#${cell.id}`;
  const text = squareText(cell);
  const shown = address === undefined ? text : html`<a href="${address}">${text}</a>`;
  return [shown, { class: `square ${cell.verdict}`, title: run?.sentence ?? cell.label }] as const;
}

const mostFindings = 8;

function pairsCard(batch: Batch): Html | string {
  const found = pairFindings(batch);
  const [first, more] = [found.slice(0, mostFindings), found.slice(mostFindings)];
  if (found.length === 0) return '';
  return card(
    'What one change does',
    html`<p class="faint">A pair: two cells that differ in this one thing.</p>${list(first)}
${more.length === 0 ? '' : closed(`${more.length} more`, list(more))}`,
  );
}

const cellColumns: readonly Column[] = [
  '',
  ...['Cell', 'Verdict', 'Expected'].map(sortable('')),
  ...['damaged (95 %)', 'commits', 'downtime', 'two could write', 'second mount'].map(
    sortable('number'),
  ),
  sortable('')('Runs'),
];
function sortable(style: 'number' | '') {
  return (name: string): Column => [html`<button type="button">${name}</button>`, style];
}

/** Sorted, filtered and compared by browser/batch.ts. */
const cells = (page: BatchPage): Html => html`
<div class="tools"><label>Filter <input id="cell-words" type="search" size="24"></label>
<label>Verdict <select id="cell-verdict"><option value="">all</option>
${verdictWords.map((word) => html`<option>${word}</option>`)}</select></label>
<span class="faint" id="cell-count" role="status"></span>
<span class="faint">Choose two to compare them.</span></div>
<div id="comparison" hidden><h3>Two cells compared</h3><table><tbody></tbody></table></div>
${wideTable(
  'Cells',
  cellColumns,
  page.batch.cells.map((cell) => cellRow(cell, page)),
  { id: 'cells' },
)}
<p class="faint">Numbers are medians over the runs. Damaged: how many of how many independent fault
events lost acknowledged commits or broke a structure, with Wilson's 95 % interval.
${page.batch.cells.some((cell) => lacking(cell, page).length > 0) ? withoutPage : ''}</p>`;

const withoutPage = html`A run whose link leads to its verdict.json has no page here:
<code>npx forcedetach report</code> with the folder of the run makes it from the history, and
with the folder of the batch after it, this page with a link to it.`;

function cellRow(cell: BatchCell, page: BatchPage): Row {
  const { id, label, median, verdict, silent, discarded, damaged, asExpected } = cell;
  const expected = cellExpectation(cell);
  const keyed = (shown: string, key: number | null | '') =>
    [shown, { 'data-key': String(key ?? '') }] as const;
  const time = (s: number | null) => keyed(s === null ? '–' : secondsShown(s), s);
  const folders = wantsPage(cell) ? lacking(cell, page) : [];
  const howToMake = html`<details class="make"><summary>no page yet</summary>This makes it, and a link to it:
<code>${page.remakeOf(folders)}</code></details>`;
  const runs = html`${cell.runs.map(({ folder, verdict, sentence }, index) => html`${linked(`${index + 1}: ${verdict ?? 'failed'}`, page.addressOf(folder), sentence)} `)}
${discarded > 0 ? html`<span class="faint">(${discarded} discarded)</span>` : ''}${folders.length === 0 ? '' : howToMake}`;
  return {
    cells: [
      html`<input type="checkbox" aria-label="Compare ${label}">`,
      label,
      html`${colored(cell)}${silent > 0 ? ', silent' : ''}`,
      [
        asExpected === false ? html`<strong>no: ${expected}</strong>` : expected,
        { title: cell.because },
      ],
      keyed(rateText(damaged), damaged.of === 0 ? '' : damaged.count / damaged.of),
      keyed(cellLosses(cell), median.lost),
      ...[median.downtimeS, median.exposureS, median.secondMountS].map(time),
      runs,
    ],
    attributes: { id, 'data-verdict': verdict },
  };
}

const colored = ({ verdict }: BatchCell): Html =>
  html`<span class="${verdict}-text">${verdict}</span>`;

function trendCard({ batch, baseline }: BatchPage): Html | string {
  if (baseline === undefined) return '';
  const { rows, added, gone, conditions } = trendOf(baseline, batch);
  const changed = rows.filter(({ verdictChanged }) => verdictChanged).length;
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
      ...[label, colored(was), colored(is), rateText(was.damaged), rateText(is.damaged)],
      ...[differenceText(damage), downtimeS === null ? '–' : signed(downtimeS)],
    ],
    style: verdictChanged ? 'changed' : '',
  })),
)}
<h3>What else changed</h3>
${conditions.length === 0 ? html`<p>Nothing that the runs record.</p>` : table([['What', 'head'], ...texts('was', 'is')], conditions)}`,
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
      rows.map(({ name, runs, medianS, tookS, cell, folder }) => [
        ...[name, runs, secondsShown(medianS), secondsShown(tookS)],
        linked(cell, addressOf(folder)),
      ]),
    )}
<p class="faint">From the end of the step before, or from the fault.</p>`,
  );
}

export type RunVerdict = Pick<Verdict, 'phases' | 'versions'>;

/** The verdict of the run in that folder; undefined where it came to none. */
export type VerdictOf = (folder: string) => RunVerdict | undefined;

/** In the order of the steps; the slowest of equals is the first. */
function slowestPhases({ cells }: Pick<Batch, 'cells'>, verdictOf: VerdictOf) {
  const taken = cells.flatMap(({ label: cell, runs }) =>
    runs.flatMap(({ folder }) => {
      const verdict = verdictOf(folder);
      const steps = verdict === undefined ? [] : recoverySteps(verdict);
      return steps.map(({ name, fromS, toS }) => ({ name, tookS: toS - fromS, cell, folder }));
    }),
  );
  return [...Map.groupBy(taken, ({ name }) => name)].flatMap(([name, all]) => {
    const sorted = all.toSorted((a, b) => b.tookS - a.tookS);
    const [slowest] = sorted;
    const medianS = sorted[Math.floor(sorted.length / 2)]?.tookS ?? 0;
    return slowest === undefined ? [] : [{ ...slowest, name, runs: all.length, medianS }];
  });
}

/** Cells are the same where their labels are; verdicts that changed come first. */
export function trendOf(was: Batch, is: Batch) {
  const before = new Map(was.cells.map((cell) => [cell.label, cell]));
  const now = new Set(is.cells.map(({ label }) => label));
  const rows = is.cells.flatMap((cell) => {
    const old = before.get(cell.label);
    return old === undefined ? [] : [rowOf(old, cell)];
  });
  return {
    rows: rows.toSorted((a, b) => Number(b.verdictChanged) - Number(a.verdictChanged)),
    /** Cells that only one of them has. */
    added: [...now].filter((label) => !before.has(label)),
    gone: [...before.keys()].filter((label) => !now.has(label)),
    conditions: changedConditions(was, is),
  };
}

function rowOf(was: BatchCell, is: BatchCell) {
  const [a, b] = [was.median.downtimeS, is.median.downtimeS];
  return {
    ...{ label: is.label, was, is, verdictChanged: was.verdict !== is.verdict },
    /** Change of the rate of damage, with Newcombe's 95 % interval. */
    damage: difference(was.damaged, is.damaged),
    /** Change of the median downtime, seconds; null where either has none. */
    downtimeS: a === null || b === null ? null : b - a,
  };
}

/** What may explain a change: versions, images, backend, timers; the seed is another each time. */
function changedConditions(was: Batch, is: Batch) {
  const [before, now] = [conditionsOf(was), conditionsOf(is)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return names
    .map((name) => [name, before[name] ?? 'not recorded', now[name] ?? 'not recorded'] as const)
    .filter(([, a, b]) => a !== b);
}

const conditionsOf = ({ cluster, basis, seed, versions = {} }: Batch): Record<string, string> => ({
  ...{ backend: cluster, basis, seed },
  ...Object.fromEntries(Object.entries(versions).map(([name, all]) => [name, all.join(', ')])),
});

/** Every version that the runs of a batch recorded, each name with all its values. */
export function batchVersionsOf(
  { cells }: Pick<Batch, 'cells'>,
  verdictOf: VerdictOf,
): Record<string, string[]> {
  const versions = new Map<string, Set<string>>();
  for (const { folder } of cells.flatMap(({ runs }) => runs)) {
    for (const [name, value] of Object.entries(verdictOf(folder)?.versions ?? {})) {
      versions.set(name, (versions.get(name) ?? new Set()).add(value));
    }
  }
  return Object.fromEntries([...versions].map(([name, values]) => [name, [...values].toSorted()]));
}
