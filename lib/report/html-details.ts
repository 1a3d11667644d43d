/** For those who dig: findings, certificates, the scenario, versions, raw records. */
import { html } from 'hono/html';
import type { Finding, Verdict } from '../experiment/verdict.ts';
import { count, pairs, type Html } from './html-parts.ts';
import type { RawRow, ReportData } from './types.ts';

const maxEvidence = 20;

export function detailSections(data: ReportData): Html {
  const { findings, certificates, scenario, seed, cluster, timers, versions } = data.verdict;
  const all = data.raw.length + data.rawMore;
  const shown = data.rawMore === 0 ? count(all) : `${count(data.raw.length)} of ${count(all)}`;
  return html`<section class="card"><h2>Findings</h2>
${findings.length === 0 ? html`<p>No checker found anything to say.</p>` : findings.map(finding)}
</section>
<section class="card"><h2>Certificates: did the fault take effect, and was it healed?</h2>
${certificates.length === 0 ? html`<p>None.</p>` : certificateTable(certificates)}
</section>
<section class="card"><details><summary>Scenario, timers, versions</summary>
<h3>Scenario</h3>
${pairs([...Object.entries(scenario), ['seed', seed], ['backend', cluster]])}
<h3>Timers in force, ms</h3>${pairs(Object.entries(timers))}
<h3>Versions</h3>${pairs(Object.entries(versions))}
</details></section>
<section class="card raw"><details><summary>Raw records (${shown})</summary>
${rawRecords(data)}
</details></section>`;
}

function finding({ level, code, summary, loud, evidence }: Finding): Html {
  const noticed = loud ? 'an operator would be told' : 'nothing would tell';
  return html`<div class="finding ${level}"><strong>${summary}</strong>
<div class="faint">${level} · ${code} · ${noticed}</div>
${evidence.length === 0 ? '' : evidenceList(evidence, level === 'damage')}
</div>`;
}

function evidenceList(evidence: readonly string[], open: boolean): Html {
  const more = evidence.length - maxEvidence;
  const lines = evidence.slice(0, maxEvidence).join('\n');
  return html`<details ${open ? 'open' : ''}><summary>Evidence</summary>
<pre>${lines}${more > 0 ? `\n… ${more} more in verdict.json` : ''}</pre></details>`;
}

function certificateTable(rows: Verdict['certificates']): Html {
  return html`<table>
<thead><tr><th>Holds</th><th>When</th><th>Claim</th><th>Evidence</th></tr></thead>
<tbody>${rows.map(
    ({ holds, moment, claim, evidence }) => html`<tr class="${holds ? '' : 'bad'}">
<td>${holds ? 'yes' : 'NO'}</td><td>${moment}</td><td>${claim}</td>
<td class="text">${evidence}</td></tr>`,
  )}</tbody></table>`;
}

function rawRecords({ raw, rawMore, operations }: ReportData): Html {
  const more =
    rawMore === 0 ? '' : `, and ${count(rawMore)} more records past the first ${count(raw.length)}`;
  return html`<p class="faint">Observations, actions and errors in the order of the history.
Left out: ${count(operations)} operations, counters of bytes, machine health${more}; all of it is
in the run’s folder.</p>
<div class="tools"><label>Filter <input id="raw-filter" type="search"></label>
<span id="raw-count" class="faint" role="status"></span></div>
<table id="raw">
<thead><tr><th class="number">#</th><th class="number">after the fault</th><th>What</th>
<th>Source</th><th>Detail</th></tr></thead>
<tbody>${raw.map(rawRow)}</tbody></table>`;
}

const rawRow = ({ id, atS, kind, source, text }: RawRow): Html =>
  html`<tr id="r${id}"><td class="number">${id}</td><td class="number">${atS.toFixed(3)} s</td>
<td>${kind}</td><td>${source}</td><td class="text mono">${text}</td></tr>`;
