/** For those who dig: findings, certificates, the scenario, versions, raw records. */
import { html } from 'hono/html';
import type { Finding, Verdict } from '../experiment/verdict/verdict.ts';
import { scoreInWords } from './mutant-score.ts';
import { countInWords } from '../counts.ts';
import { pairs, type Html } from './html-parts.ts';
import { explained } from './terms.ts';
import type { RawRow, ReportData } from './types.ts';

const maxEvidence = 20;
/** Lines of evidence that a reader sees without a click. */
const shownLines = 4;
/** Raw records in the page itself. */
const maxStatic = 500;

export function detailSections(data: ReportData): Html {
  const { findings, certificates, scenario, seed, cluster, timers, versions } = data.verdict;
  return html`<section class="card"><h2>Findings</h2>
${findings.length === 0 ? html`<p>No checker found anything.</p>` : findings.map(finding)}
<p class="faint">How good is this audit? ${scoreInWords()}.</p>
</section>
<section class="card"><h2>${explained('Certificates: did the fault take effect, and was it healed?')}</h2>
${certificates.length === 0 ? html`<p>None.</p>` : certificateTable(certificates)}
</section>
<section class="card"><details><summary>Scenario, timers, versions</summary>
<h3>Scenario</h3>
${pairs([...Object.entries(scenario), ['seed', seed], ['backend', cluster]])}
<h3>Timers in force, ms</h3>${pairs(Object.entries(timers))}
<h3>Versions</h3>${pairs(Object.entries(versions))}
</details></section>
${operationTable(data)}
${rawRecords(data)}`;
}

function finding({ level, code, summary, loud, evidence }: Finding): Html {
  const noticed = loud ? 'visible to an operator' : 'not visible by itself';
  return html`<div class="finding ${level}"><strong>${explained(summary)}</strong>
<div class="faint">${level} · ${code} · ${noticed}</div>
${evidence.length === 0 ? '' : evidenceList(evidence)}
</div>`;
}

/** The first lines at once; a corrupt database says the same thing a hundred times. */
function evidenceList(evidence: readonly string[]): Html {
  const lines = evidence.slice(0, maxEvidence).flatMap((each) => each.split('\n'));
  const more = evidence.length - maxEvidence;
  const rest = lines.slice(shownLines);
  if (more > 0) rest.push(`… ${more} more in verdict.json`);
  return html`<pre>${lines.slice(0, shownLines).join('\n')}</pre>
${
  rest.length === 0
    ? ''
    : html`<details><summary>${countInWords(rest.length)} more lines of evidence</summary>
<pre>${rest.join('\n')}</pre></details>`
}`;
}

/** A probe that was asked again and answered the same has one row. */
export function certificateTable(rows: Verdict['certificates']): Html {
  const same = Map.groupBy(rows, ({ holds, moment, claim, evidence }) =>
    JSON.stringify([holds, moment, claim, evidence]),
  );
  return html`<table>
<thead><tr><th>Holds</th><th>When</th><th>Claim</th><th>Evidence</th></tr></thead>
<tbody>${[...same.values()].map(([first, ...again]) => certificateRow(first, again.length + 1))}</tbody></table>`;
}

function certificateRow(row: Verdict['certificates'][number] | undefined, times: number): Html {
  if (row === undefined) return html``;
  const { holds, moment, claim, evidence } = row;
  return html`<tr class="${holds ? '' : 'bad'}">
<td>${holds ? 'yes' : 'NO'}</td><td>${moment}${times === 1 ? '' : `, ${times} times`}</td><td>${claim}</td>
<td class="text">${evidence}</td></tr>`;
}

const pager = html`<button type="button" data-page="previous">Previous</button>
<button type="button" data-page="next">Next</button>
<span class="faint" data-count role="status"></span>`;

/** Filled by the page's script: there may be a million. */
const operationTable = ({ operations }: ReportData): Html =>
  html`<section class="card raw"><details id="operations">
<summary>Operations, one by one (${countInWords(operations.endUs.length)})</summary>
<p class="faint static">This table needs JavaScript. The history in the run’s folder has all operations.</p>
<p class="faint tools">What clients sent and how it ended, for the stretch that the time axis shows. Operation: client / connection / session / number.</p>
<div class="tools"><label>Outcome <select data-outcome>
<option value="all">all</option><option value="ok">ok</option><option value="fail">fail</option>
<option value="info">info: unknown</option></select></label>
<label><input type="checkbox" data-slowest> slowest first</label>
${pager}</div>
<table><thead><tr><th class="number">ended</th><th class="number">after</th><th>Operation</th>
<th>Node</th><th>Kind</th><th>Outcome</th><th>Error</th></tr></thead><tbody></tbody></table>
</details></section>`;

/** Those that tell the story, and those that prove it; the page's script puts in all the others. */
function rawRecords({ raw, rawMore, licence, laterLicences }: ReportData): Html {
  const proofs = [licence, ...laterLicences.map(({ rows }) => rows)].flat();
  const proving = new Set(proofs.map(({ rowId }) => rowId));
  const shown = raw.filter(({ id, isKey }) => isKey || proving.has(id)).slice(0, maxStatic);
  const more = rawMore === 0 ? '' : ` ${countInWords(rawMore)} more are only in the run’s folder.`;
  return html`<section class="card raw"><details id="raw">
<summary>Raw records (${countInWords(raw.length + rawMore)})</summary>
<p class="faint">All records but operations and audited rows, in order of time.${more}
<span class="static">Without JavaScript: the ${countInWords(shown.length)} key records.</span></p>
<div class="tools"><label>Filter <input type="search" data-filter></label>
<label><input type="checkbox" data-only-view> only what the time axis shows</label>
${pager}</div>
<table>
<thead><tr><th class="number">#</th><th class="number">after the fault</th><th>What</th>
<th>Source</th><th>Detail</th></tr></thead>
<tbody>${shown.map(rawRow)}</tbody></table>
</details></section>`;
}

const rawRow = ({ id, atS, kind, source, text }: RawRow): Html =>
  html`<tr id="r${id}"><td class="number">${id}</td><td class="number">${atS.toFixed(3)} s</td>
<td>${kind}</td><td>${source}</td><td class="text mono">${text}</td></tr>`;
