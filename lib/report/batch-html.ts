/** The page of a batch: one self-contained file without scripts, so that nothing can leave it. */
import { html } from 'hono/html';
import type { Batch, BatchCell } from '../matrix/batch.ts';
import { scoreInWords } from '../mutants/score.ts';
import {
  batchBasis,
  differenceText,
  mostDifferences,
  lagLine,
  rateLine,
  rateText,
} from './batch-markdown.ts';
import { slowestPhases, type VerdictOf } from './batch-phases.ts';
import { phasesSection, trendSection } from './batch-sections.ts';
import { heatMapOf, heatMapPicture } from './batch-pictures.ts';
import { renderDocument } from './document.ts';
import { count, pictures, seconds, type Html } from './html-parts.ts';
import { expectedWords } from './wording.ts';

export interface BatchPage {
  readonly batch: Batch;
  /** Whether a run's folder has a report to link to. */
  readonly hasReport: (folder: string) => boolean;
  readonly verdictOf: VerdictOf;
  /** The pinned batch to compare with; undefined: none. */
  readonly baseline: Batch | undefined;
}

/** A complete HTML document; the same data gives the same bytes. */
export function renderBatchHtml(page: BatchPage): Promise<string> {
  const { batch, hasReport, verdictOf, baseline } = page;
  const reportOf = (folder: string): string | undefined =>
    hasReport(folder) ? `${folder}/report.html` : undefined;
  return renderDocument({
    title: `${batch.verdict.toUpperCase()}: ${batch.name}`,
    header: header(batch),
    main: html`${trouble(batch)}
${map(batch)}
${trendSection(batch, baseline)}
<section class="card"><h2>Cells</h2>${cellTable(page)}</section>
${controls(page)}
${contrasts(batch)}
${differences(batch)}
${phasesSection(slowestPhases(batch, verdictOf), reportOf)}
<section class="card"><h2>Run it again</h2><pre>${batch.replay ?? 'not recorded'}</pre></section>`,
  });
}

const wordOf = {
  expected: 'safe',
  unexpected: 'lost',
  inconclusive: 'inconclusive',
} as const;

const header = (batch: Batch): Html => html`<div class="band ${wordOf[batch.verdict]}"></div>
<header>
<div class="top"><span>forcedetach · batch ${batch.name} · seed ${batch.seed}</span></div>
<h1>${batch.sentence}</h1>
<p class="faint">${batch.question}</p>
<div class="chips">
<span class="chip word ${wordOf[batch.verdict]}">${batch.verdict}</span>
<span class="chip">${batchBasis[batch.basis]}</span>
<span class="chip">${rateLine(batch)}</span>
<span class="chip">${lagLine(batch)}</span>
</div>
</header>`;

const trouble = ({ inconclusiveBecause }: Batch): Html | string =>
  inconclusiveBecause.length === 0
    ? ''
    : html`<section class="card"><h2>This batch proves nothing</h2>
<ul>${inconclusiveBecause.map((reason) => html`<li>${reason}</li>`)}</ul></section>`;

function map(batch: Batch): Html | string {
  const heatMap = heatMapOf(batch);
  if (heatMap === undefined) return '';
  const about = 'Verdict of each cell; the table below says the same.';
  return html`<section class="card"><h2>Verdicts</h2>
${pictures(heatMapPicture(heatMap), about)}</section>`;
}

const cellTable = (page: BatchPage): Html => html`<table>
<thead><tr><th>Cell</th><th>Verdict</th><th>Expected</th><th class="number">damaged (95 %)</th>
<th class="number">lost</th><th class="number">downtime</th><th class="number">two could write</th>
<th class="number">second mount</th><th>Runs</th></tr></thead>
<tbody>${page.batch.cells.map((cell) => cellRow(cell, page))}</tbody></table>
<p class="faint">Numbers are medians over the runs. Damaged: how many of how many independent fault
events lost acknowledged commits or broke a structure, with Wilson's 95 % interval.</p>`;

function cellRow(cell: BatchCell, page: BatchPage): Html {
  const { median, verdict, silent, discarded } = cell;
  const expected = expectedWords(cell.expected, cell.expectedServing);
  const time = (s: number | null): Html =>
    html`<td class="number">${s === null ? '–' : seconds(s)}</td>`;
  const lost = median.lost === null ? '–' : `${count(median.lost)} of ${count(median.acked ?? 0)}`;
  return html`<tr><td>${cell.label}</td>
<td><span class="${verdict}-text">${verdict}</span>${silent > 0 ? ', silent' : ''}</td>
<td title="${cell.because}">${cell.asExpected === false ? html`<strong>no: ${expected}</strong>` : expected}</td>
<td class="number">${rateText(cell.damaged)}</td><td class="number">${lost}</td>
${time(median.downtimeS)}${time(median.exposureS)}${time(median.secondMountS)}
<td>${cell.runs.map((run, index) => runLink(run, index, page))}
${discarded > 0 ? html`<span class="faint">(${discarded} discarded)</span>` : ''}</td></tr>`;
}

function runLink(run: BatchCell['runs'][number], index: number, page: BatchPage): Html {
  const name = run.verdict ?? 'failed';
  const text = `${index + 1}: ${name}`;
  return page.hasReport(run.folder)
    ? html`<a href="${run.folder}/report.html" title="${run.sentence}">${text}</a> `
    : html`<span title="${run.sentence}">${text}</span> `;
}

const controls = ({ batch }: BatchPage): Html => html`<section class="card"><h2>Controls</h2>
<table><tbody>${batch.controls.map(
  ({ role, label, holds, trouble }) => html`<tr class="${holds ? '' : 'bad'}">
<th scope="row">${role}</th><td>${label}</td><td>${holds ? 'holds' : trouble}</td></tr>`,
)}</tbody></table>
<p class="faint">How good is the audit? ${scoreInWords()}.</p>
<h3>Cells that ran once more, alone</h3>
<table><tbody>${batch.checks.map(
  ({ label, verdict, before, agrees }) => html`<tr class="${agrees === false ? 'bad' : ''}">
<th scope="row">${label}</th><td>${verdict}, before ${before.join(', ')}</td>
<td>${agrees === null ? 'not comparable' : agrees ? 'agrees' : 'does not agree'}</td></tr>`,
)}</tbody></table></section>`;

const contrasts = ({ contrasts }: Batch): Html | string =>
  contrasts.length === 0
    ? ''
    : html`<section class="card"><h2>What each axis did</h2>
<table><thead><tr><th>Axis</th><th>from</th><th>to</th><th class="number">pairs</th>
<th class="number">changed</th><th class="number">better</th><th class="number">worse</th></tr></thead>
<tbody>${contrasts.map(
        ({ axis, from, to, pairs, changed, better }) => html`<tr><td>${axis}</td><td>${from}</td>
<td>${to}</td><td class="number">${pairs}</td><td class="number">${changed}</td>
<td class="number">${better}</td><td class="number">${changed - better}</td></tr>`,
      )}</tbody></table>
<p class="faint">Pairs of cells that differ in this axis alone; lost and corrupt count as one.</p>
</section>`;

function differences({ differences }: Batch): Html | string {
  if (differences.length === 0) return '';
  const more = differences.length - mostDifferences;
  return html`<section class="card"><h2>Pairs that differ</h2>
<table><thead><tr><th>In</th><th>where</th><th>verdicts</th>
<th class="number">damage, more or less (95 %)</th></tr></thead>
<tbody>${differences.slice(0, mostDifferences).map(
    (each) => html`<tr><td>${each.axis}: ${each.from} → ${each.to}</td><td>${each.elsewhere}</td>
<td>${each.fromVerdict} → ${each.toVerdict}</td>
<td class="number">${differenceText(each)}</td></tr>`,
  )}</tbody></table>
${more > 0 ? html`<p class="faint">… and ${more} more, in batch.json.</p>` : ''}</section>`;
}
