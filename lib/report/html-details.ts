/** For those who dig: findings, certificates, the scenario, versions, raw records. */
import { html } from 'hono/html';
import type { Finding, Verdict } from '../experiment/verdict.ts';
import { pairs, type Html } from './html-parts.ts';
import type { RawRow, ReportData } from './types.ts';

const maxEvidence = 20;

export function detailSections(data: ReportData): Html {
  const { verdict } = data;
  return html`<section class="card"><h2>Findings</h2>
${verdict.findings.length === 0 ? html`<p>No checker found anything to say.</p>` : verdict.findings.map(finding)}
</section>
<section class="card"><h2>Certificates: did the fault take effect, and was it healed?</h2>
${verdict.certificates.length === 0 ? html`<p>None.</p>` : certificates(verdict.certificates)}
</section>
<section class="card"><details><summary>Scenario, timers, versions</summary>
<h3>Scenario</h3>${pairs([...Object.entries(verdict.scenario), ['seed', verdict.seed], ['backend', verdict.cluster]])}
<h3>Timers in force, ms</h3>${pairs(Object.entries(verdict.timers))}
<h3>Versions</h3>${pairs(Object.entries(verdict.versions))}
</details></section>
<section class="card raw"><details><summary>Raw records (${data.raw.length}${data.rawMore > 0 ? ` of ${data.raw.length + data.rawMore}` : ''})</summary>
${rawRecords(data)}
</details></section>`;
}

function finding({ level, code, summary, loud, evidence }: Finding): Html {
  const more = evidence.length - maxEvidence;
  return html`<div class="finding ${level}"><strong>${summary}</strong>
<div class="faint">${level} · ${code} · ${loud ? 'an operator would be told' : 'nothing would tell'}</div>
${evidence.length === 0 ? '' : html`<details ${level === 'damage' ? 'open' : ''}><summary>Evidence</summary><pre>${evidence.slice(0, maxEvidence).join('\n')}${more > 0 ? `\n… ${more} more in verdict.json` : ''}</pre></details>`}
</div>`;
}

function certificates(rows: Verdict['certificates']): Html {
  return html`<table><thead><tr><th>Holds</th><th>When</th><th>Claim</th><th>Evidence</th></tr></thead>
<tbody>${rows.map((row) => html`<tr class="${row.holds ? '' : 'bad'}"><td>${row.holds ? 'yes' : 'NO'}</td><td>${row.moment}</td><td>${row.claim}</td><td class="text">${row.evidence}</td></tr>`)}</tbody></table>`;
}

function rawRecords({ raw, rawMore, operations }: ReportData): Html {
  return html`<p class="faint">Observations, actions and errors in the order of the history. Left out: ${operations} operations, counters of bytes, machine health${rawMore > 0 ? `, and ${rawMore} more records past the first ${raw.length}` : ''}; all of it is in the run's folder.</p>
<div class="tools"><label>Filter <input id="raw-filter" type="search"></label> <span id="raw-count" class="faint" role="status"></span></div>
<table id="raw"><thead><tr><th class="number">#</th><th class="number">after the fault</th><th>What</th><th>Source</th><th>Detail</th></tr></thead>
<tbody>${raw.map(rawRow)}</tbody></table>`;
}

function rawRow({ id, atS, kind, source, text }: RawRow): Html {
  return html`<tr id="r${id}"><td class="number">${id}</td><td class="number">${atS.toFixed(3)} s</td><td>${kind}</td><td>${source}</td><td class="text mono">${text}</td></tr>`;
}
