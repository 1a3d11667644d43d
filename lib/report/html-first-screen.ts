/** What a reader gets in the first minute: the sentence, the facts, the licence, the limits. */
import { html } from 'hono/html';
import { bytes, percent, seconds, type Html } from './html-parts.ts';
import type { LicenceRow, LossRow, ReportData } from './types.ts';
import { meanings } from './wording.ts';

/** The sentence and its badges. */
export function pageHeader({ verdict, badge, expectation }: ReportData): Html {
  return html`<header>
<div class="top"><span>forcedetach · ${String(verdict.scenario['name'])} · run ${verdict.runId}</span>
<button id="theme" type="button">Light / dark</button></div>
<h1>${verdict.sentence}</h1>
<div class="chips">
<span class="chip word ${verdict.verdict}">${verdict.verdict}</span>
<span class="chip">${badge}</span>
<span class="chip ${verdict.asExpected ? '' : 'alarm'}">${expectation}</span>
${verdict.noticed === null ? '' : html`<span class="chip ${verdict.noticed === 'silent' ? 'alarm' : ''}">${noticedText(verdict.noticed)}</span>`}
</div>
</header>`;
}

/** Facts, losses, licence, and what to make of them. */
export function verdictSections(data: ReportData): Html {
  const { verdict } = data;
  return html`${facts(data)}
${verdict.complete ? '' : incomplete(verdict.incompleteBecause)}
<div class="two">
<section class="card"><h2>Acknowledged commits, by when they were acknowledged</h2>${lossTable(data.loss)}</section>
<section class="card"><h2>Licence: what let the second writer in</h2>${licence(data.licence, verdict.horizonS)}</section>
</div>
<div class="two">
<section class="card"><h2>This applies to you if</h2>${list(data.appliesIf)}
<h2>What to do</h2>${list(data.advice)}</section>
<section class="card"><h2>Not tested here</h2>${list(data.notTested)}
<h2>Run it again</h2><pre>${verdict.replay}</pre></section>
</div>`;
}

const noticedText = (noticed: 'loud' | 'silent'): string =>
  noticed === 'silent'
    ? 'silent: no probe, log or check would have told'
    : 'loud: a normal operator would have been told';

function facts({ verdict }: ReportData): Html {
  const { safety, acked, lost, availability, exposure, phases, horizonS } = verdict;
  const downtime = availability.downtimeMs;
  return html`<dl class="facts">
<div><dt>Safety</dt><dd class="${safety}-text">${safety}<small>${verdict.complete ? meanings[safety] : 'as far as the evidence goes'}</small></dd></div>
<div><dt>Acknowledged commits lost</dt><dd>${lost} of ${acked}<small>${percent(lost, acked)}</small></dd></div>
<div><dt>Downtime</dt><dd>${downtime === null ? 'unknown' : seconds(downtime / 1000)}<small>${availability.recovered ? 'commits came back' : 'no commits came back in time'}</small></dd></div>
<div><dt>Two could write for</dt><dd>${seconds(exposure.ms / 1000)}<small>${exposureText(exposure)}</small></dd></div>
<div><dt>Second mount</dt><dd>${phases.secondMount === null ? 'none' : seconds(phases.secondMount)}<small>${phases.secondMount === null ? `in ${seconds(horizonS)} after the fault` : 'after the fault'}</small></dd></div>
</dl>`;
}

const exposureText = (exposure: ReportData['verdict']['exposure']): string =>
  exposure.ms === 0
    ? 'never'
    : `victim wrote ${bytes(exposure.bytesVictim)}, successor ${bytes(exposure.bytesSuccessor)}`;

const incomplete = (reasons: readonly string[]): Html =>
  html`<section class="card"><h2>The evidence is not complete</h2>${list(reasons)}</section>`;

function lossTable(rows: readonly LossRow[]): Html {
  return html`<table>
<thead><tr><th>Acknowledged</th><th class="number">commits</th><th class="number">lost</th><th class="number">share</th></tr></thead>
<tbody>${rows.map((row) => html`<tr class="${row.lost > 0 ? 'bad' : ''}"><td>${row.epoch}</td><td class="number">${row.acked}</td><td class="number">${row.lost}</td><td class="number">${percent(row.lost, row.acked)}</td></tr>`)}</tbody>
</table>`;
}

function licence(rows: readonly LicenceRow[], horizonS: number): Html {
  if (rows.length === 0) {
    return html`<p>No second node got the volume within ${seconds(horizonS)} after the fault.</p>`;
  }
  return html`<ol class="licence">${rows.map(
    (row) => html`<li><span class="at">+${seconds(row.atS)}</span><span>${row.step}
<span class="faint">${row.source}: ${row.evidence} ${row.rowId === null ? '' : html`<a href="#r${row.rowId}">record ${row.rowId}</a>`}</span></span></li>`,
  )}</ol>`;
}

const list = (lines: readonly string[]): Html =>
  html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
