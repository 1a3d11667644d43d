/** The page of a batch: one self-contained file, whose finding comes first. */
import { html } from 'hono/html';
import type { Batch } from '../../matrix/batch.ts';
import { scoreInWords } from '../mutant-score.ts';
import { cellsSection } from './cells.ts';
import {
  batchExpectation,
  batchHeadlineOf,
  batchTitleOf,
  batchToneOf,
  pairFindings,
  type PairFinding,
} from './findings.ts';
import { heatMapSection, phasesSection, trendSection } from './sections.ts';
import type { RunsOnPage } from './runs.ts';
import { batchBasis, lagLine, rateLine } from './markdown.ts';
import { slowestPhases, type VerdictOf } from './phases.ts';
import { renderDocument } from '../document.ts';
import { pageHeader, type FirstScreen } from '../first-screen.ts';
import { wide, type Html } from '../html-parts.ts';
import { explained } from '../terms.ts';

export interface BatchPage extends RunsOnPage {
  readonly verdictOf: VerdictOf;
  /** The pinned batch to compare with; undefined: none. */
  readonly baseline: Batch | undefined;
}

/** A complete HTML document; the same data gives the same bytes. */
export function renderBatchHtml(page: BatchPage): Promise<string> {
  const { batch, addressOf, verdictOf, baseline } = page;
  return renderDocument({
    title: batchTitleOf(batch),
    header: pageHeader(screen(batch)),
    main: html`${trouble(batch)}
${heatMapSection(page)}
${pairsSection(batch)}
${cellsSection(page)}
${trendSection(batch, baseline)}
${controls(batch)}
${contrasts(batch)}
${phasesSection(slowestPhases(batch, verdictOf), addressOf)}
<section class="card"><h2>Run it again</h2><pre>${batch.replay ?? 'not recorded'}</pre></section>`,
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

const trouble = ({ inconclusiveBecause }: Batch): Html | string =>
  inconclusiveBecause.length === 0
    ? ''
    : html`<section class="card"><h2>This batch proves nothing</h2>
<ul>${inconclusiveBecause.map((reason) => html`<li>${reason}</li>`)}</ul></section>`;

/** What one change does, before any table of numbers. */
function pairsSection(batch: Batch): Html | string {
  const found = pairFindings(batch);
  if (found.length === 0) return '';
  const [first, more] = [found.slice(0, mostFindings), found.slice(mostFindings)];
  const items = (some: readonly PairFinding[]): Html =>
    html`<ul>${some.map(({ text }) => html`<li>${text}</li>`)}</ul>`;
  return html`<section class="card"><h2>What one change does</h2>
<p class="faint">A pair: two cells that differ in this one thing.</p>${items(first)}
${
  more.length === 0
    ? ''
    : html`<details><summary>${more.length} more</summary>${items(more)}</details>`
}</section>`;
}

const mostFindings = 8;

const controls = (
  batch: Batch,
): Html => html`<section class="card"><h2>${explained('Controls')}</h2>
${wide(
  'Controls',
  html`<table><tbody>${batch.controls.map(
    ({ role, label, holds, trouble }) => html`<tr class="${holds ? '' : 'bad'}">
<th scope="row">${role}</th><td>${label}</td><td>${holds ? 'holds' : trouble}</td></tr>`,
  )}</tbody></table>`,
)}
<p class="faint">How good is the audit? ${scoreInWords()}.</p>
<p class="faint">How well did the machine keep up? ${rateLine(batch)}; ${lagLine(batch)}.</p>
<h3>${explained('Cells that ran once more, alone')}</h3>
${wide(
  'Cells that ran once more',
  html`<table><tbody>${batch.checks.map(
    ({ label, verdict, before, agrees }) => html`<tr class="${agrees === false ? 'bad' : ''}">
<th scope="row">${label}</th><td>${verdict}, before ${before.join(', ')}</td>
<td>${agrees === null ? 'not comparable' : agrees ? 'agrees' : 'does not agree'}</td></tr>`,
  )}</tbody></table>`,
)}</section>`;

function contrasts({ contrasts }: Batch): Html | string {
  if (contrasts.length === 0) return '';
  const [changed, same] = [
    contrasts.filter((each) => each.changed > 0),
    contrasts.filter((each) => each.changed === 0),
  ];
  return html`<section class="card"><h2>What each axis did</h2>
<p class="faint">Pairs of cells that differ in this axis alone; lost and corrupt count as one.</p>
${changed.length === 0 ? html`<p>No change of one axis changed a verdict.</p>` : contrastTable(changed)}
${
  same.length === 0
    ? ''
    : html`<details><summary>${same.length} that changed no verdict</summary>${contrastTable(same)}</details>`
}</section>`;
}

const contrastTable = (rows: Batch['contrasts']): Html =>
  wide(
    'What each axis did',
    html`<table><thead><tr><th>Axis</th><th>from</th><th>to</th><th class="number">pairs</th>
<th class="number">changed</th><th class="number">better</th><th class="number">worse</th></tr></thead>
<tbody>${rows.map(
      ({ axis, from, to, pairs, changed, better }) => html`<tr><td>${axis}</td><td>${from}</td>
<td>${to}</td><td class="number">${pairs}</td><td class="number">${changed}</td>
<td class="number">${better}</td><td class="number">${changed - better}</td></tr>`,
    )}</tbody></table>`,
  );
