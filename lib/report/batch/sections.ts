/** Sections of a batch's page that look beyond its cells: the slowest phases, the trend. */
import { html } from 'hono/html';
import type { Batch } from '../../matrix/batch.ts';
import { conditionsInWords, trendOf, type Trend, type TrendRow } from './trend.ts';
import { differenceText, rateText } from './markdown.ts';
import type { PhaseRow } from './phases.ts';
import type { AddressOf } from './runs.ts';
import { seconds, wide, type Html } from '../html-parts.ts';

export function phasesSection(rows: readonly PhaseRow[], addressOf: AddressOf): Html | string {
  if (rows.length === 0) return '';
  return html`<section class="card"><h2>Slowest phases</h2>
${wide(
  'Slowest phases',
  html`<table><thead><tr><th>Step of the way back</th><th class="number">runs</th>
<th class="number">median</th><th class="number">slowest</th><th>Slowest run</th></tr></thead>
<tbody>${rows.map(
    ({ name, runs, medianS, slowestS, cell, folder }) => html`<tr><td>${name}</td>
<td class="number">${runs}</td><td class="number">${seconds(medianS)}</td>
<td class="number">${seconds(slowestS)}</td><td>${linked(cell, addressOf(folder))}</td></tr>`,
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

const signed = (s: number): string => `${s > 0 ? '+' : s < 0 ? '−' : ''}${seconds(Math.abs(s))}`;

const conditionsTable = ({ conditions: changed }: Trend): Html | string =>
  changed.length === 0
    ? ''
    : html`<table><thead><tr><th>What</th><th>was</th><th>is</th></tr></thead>
<tbody>${changed.map(
        ([name, was, is]) => html`<tr><th scope="row">${name}</th><td class="text">${was}</td>
<td class="text">${is}</td></tr>`,
      )}</tbody></table>`;
