/** The report of a run as a page: what a reader gets in the first minute, the time axis, and all that it rests on. */
import { readFileSync } from 'node:fs';
import { html } from 'hono/html';
import { countInWords, secondsShown } from '../core/index.ts';
import type { Finding, Notice, Verdict } from '../judge/index.ts';
import { packOperations } from './axis/operations.ts';
import type { Role } from './axis/palette.ts';
import { rolesIn, type PageData } from './axis/timeline.ts';
import { renderDocument } from './document.ts';
import { adviceCards, factList, missingEvidence, replayCard } from './first-screen.ts';
import {
  card,
  closed,
  explained,
  type Html,
  list,
  numbers,
  pairs,
  percent,
  pictures,
  table,
  texts,
} from './html-parts.ts';
import { hasLostFile, lostColumn, lostFile } from './loss-words.ts';
import { scoreInWords } from './mutant-score.ts';
import { echartsFile, recoveryPicture, storyPicture, timelinePicture } from './pictures.ts';
import type { LicenceRow, RecoveryStep, ReportData } from './report-data.ts';
import { imageName, zeroOf } from './wording.ts';

/** A complete HTML document; the same data gives the same bytes. */
export function renderHtml(data: ReportData): Promise<string> {
  const { verdict, timeline, raw } = data;
  const records = raw.map(
    ({ id, atS, kind, source, text }) => [id, atS, kind, source, text] as const,
  );
  const { about, bytes } = packOperations(data.operations);
  return renderDocument({
    title: `${verdict.verdict.toUpperCase()}: ${verdict.scenario.name} (${verdict.runId})`,
    screen: data.first,
    main: html`${verdictSections(data)}
${timelineSection(data)}
${detailSections(data)}`,
    scripts: {
      library: readFileSync(echartsFile, 'utf8'),
      page: 'page',
      data: { timeline, records, operations: about } satisfies PageData,
      bytes,
    },
  });
}

/** Chart, causes and advice beside each other, then facts, losses and limits. */
function verdictSections(data: ReportData): Html {
  const { verdict, licenceGaps, laterLicences, notTested, modelLimits } = data;
  const { complete, notices, replay } = verdict;
  const isOpen = verdict.verdict === 'inconclusive';
  return html`${isOpen ? missingEvidence(verdict) : ''}
<div class="lead">
<div>${story(data)}
${adviceCards(data)}</div>
${card(
  causesTitle(verdict),
  html`${causes(data)}${gapsOf(licenceGaps)}
${laterLicences.map(({ title, rows, gaps }) => closed(`Later, after ${title}`, html`${licence(rows)}${gapsOf(gaps)}`))}`,
)}
</div>
${factList(data.facts)}
${card(html`${explained('Acknowledged commits')}, by when they were acknowledged`, losses(data))}
${isOpen || complete ? '' : missingEvidence(verdict)}
${notices.length === 0 ? '' : card('What an operator can see', noticeTable(verdict))}
<div class="two">
${card(
  'Not tested here',
  html`${list(notTested)}${
    modelLimits.length === 0
      ? ''
      : closed(`${modelLimits.length} things that the model does not know`, list(modelLimits))
  }`,
)}
${replayCard(replay)}
</div>`;
}

/** Who had the volume, at a glance, before any reading. */
function story({ timeline }: ReportData): Html | string {
  const [wide, narrow] = [storyPicture(timeline, false), storyPicture(timeline, true)];
  if (wide === undefined || narrow === undefined) return '';
  const about = 'Which node had the volume mounted and whose database was up; the causes say why';
  return html`<section class="card story"><h2>Which node had the volume</h2>
<div class="wide">${pictures(wide, about)}</div>
<div class="narrow">${pictures(narrow, about)}</div></section>`;
}

const causesTitle = ({ exposure, phases }: Verdict): string =>
  exposure.ms > 0
    ? 'What let the second writer in'
    : phases.secondMount === null
      ? 'Whether the volume moved'
      : 'How the volume moved';

function causes({ licence: rows, verdict }: ReportData): Html {
  const { phases, horizonS } = verdict;
  const zero = zeroOf(verdict);
  if (rows.length > 0) return licence(rows);
  if (horizonS === 0) return html`<p>The ${zero} never came.</p>`;
  const attached =
    phases.attached === null
      ? ''
      : ` It was attached to another one ${secondsShown(phases.attached)} after the ${zero}.`;
  return html`<p>No second node mounted the volume within ${secondsShown(horizonS)} after the
${zero}.${attached}</p>`;
}

/** The record says it in full; the evidence stands here only where no record was matched. */
const licence = (rows: readonly LicenceRow[]): Html =>
  html`<ol class="licence">${rows.map(
    ({ atS, step, source, evidence, by, rowId }) =>
      html`<li><span class="at">+${atS.toFixed(1)} s</span><span>${explained(step)}${by === undefined ? '' : `: ${by}`}
<span class="faint">${source}${
        rowId === null ? html`: ${evidence}` : html`, <a href="#r${rowId}">record ${rowId}</a>`
      }</span></span></li>`,
  )}</ol>`;

const gapsOf = (gaps: readonly string[]): Html | string =>
  gaps.length === 0 ? '' : html`<p class="faint">Missing: ${gaps.join('; ')}.</p>`;

function losses({ loss, verdict }: ReportData): Html {
  const { images } = verdict;
  const byEpoch = table(
    ['Acknowledged', ...numbers('commits', lostColumn(verdict), 'share')],
    loss.map(({ epoch, acked, lost }) => ({
      cells: [explained(epoch), acked, lost, percent(lost, acked)],
      style: lost > 0 ? 'bad' : '',
    })),
  );
  const byCopy = table(
    ['Copied', ...numbers('must hold', 'not found'), 'readable'],
    images.map(({ image, acked, lost, readable }) => ({
      cells: [
        ...[explained(imageName(verdict, image)), acked, lost ?? 'not known'],
        readable ? 'to the end' : 'no',
      ],
      style: lost !== 0 || !readable ? 'bad' : '',
    })),
  );
  const link = html`<p>Each lost commit: <a href="${lostFile}">${lostFile}</a>, beside this page.</p>`;
  return html`${
    loss.length === 0
      ? html`<p>Their fate is not known: no copy of the volume after the ${zeroOf(verdict)} could be audited.</p>`
      : byEpoch
  }
${images.length === 0 ? '' : html`<h3>By copy of the volume</h3>${byCopy}${hasLostFile(verdict) ? link : ''}`}`;
}

/** Without harm no source can point to it; while evidence is missing, one may. */
function noticeTable({ notices, noticed, verdict }: Verdict): Html {
  const isHarmed = verdict !== 'safe';
  const harm = ({ ofHarm }: Notice): string[] => (isHarmed ? [ofHarm ? 'yes' : 'no'] : []);
  const note = isHarmed
    ? 'Harm “no”: a harmless fail-over shows it as well, or it shows only on request.'
    : 'This run did no harm, so none of these points to any.';
  return html`${table(
    [...texts('Source', 'What'), 'When', ...(isHarmed ? ['Harm'] : [])],
    notices.map((notice) => ({
      cells: [
        notice.by,
        `${notice.what}${notice.count === 1 ? '' : `, ${countInWords(notice.count)} times`}`,
        whenOf(notice),
        ...harm(notice),
      ],
      style: notice.ofHarm && noticed !== null ? 'bad' : '',
      title: notice.evidence,
    })),
  )}<p class="faint">${note}</p>`;
}

function whenOf({ firstS, lastS, when }: Notice): string {
  if (firstS === null) return `on the copy ${when}`;
  const until = lastS === null || lastS === firstS ? '' : ` to +${lastS.toFixed(1)} s`;
  return `+${firstS.toFixed(1)} s${until}, ${when}`;
}

/** What happened when: the zoomable time axis, its static twin, and the way back in steps. */
function timelineSection({ timeline, operations, recovery }: ReportData): Html {
  const exposed = timeline.exposure !== null;
  return html`${card(
    'What happened when',
    html`
<p class="faint">Seconds after the ${timeline.zero}.
${exposed ? 'Shaded: two nodes could write the volume.' : 'No two nodes could write.'}
Bars in the colour of <span class="victim-role">the ${explained('victim')}</span> or of
<span class="successor-role">its ${explained('successor')}</span> are as they should be; amber and red are not. Clients stand ${explained('inside')} or ${explained('outside')}.</p>
<div class="tools" role="group" aria-label="Zoom">
<button type="button" data-zoom="first">Overview</button>
<button type="button" data-zoom="whole">Whole run</button>
<button type="button" data-zoom="fault">Fault</button>
${exposed ? html`<button type="button" data-zoom="handover">Hand-over</button>` : ''}
<button type="button" data-zoom="in" aria-label="Zoom in">+</button>
<button type="button" data-zoom="out" aria-label="Zoom out">−</button>
<button type="button" data-zoom="left" aria-label="Earlier">←</button>
<button type="button" data-zoom="right" aria-label="Later">→</button>
<span class="faint" id="range" role="status">Drag, pinch, Ctrl + wheel, or keys + − ← → 0</span>
</div>
<div class="tools" role="group" aria-label="Lanes">
${rolesIn(timeline).map(({ role, title }) => roleButton(role, title))}
</div>
<div><div id="timeline" tabindex="0" role="img" aria-label="Time axis with lanes; the same facts are in
the tables of this page. Keys: plus, minus, left, right, zero"></div></div>
<div class="static">${pictures(timelinePicture(timeline, operations), 'Time axis with lanes')}</div>`,
  )}
${recovery.length === 0 ? '' : recoverySection(recovery, timeline.zero)}`;
}

/** Other nodes are closed at first (browser/page.ts). */
const roleButton = (role: Role, title: string): Html =>
  html`<button type="button" class="${role}-role" data-role="${role}"
aria-pressed="${role === 'other' ? 'false' : 'true'}">${title}</button>
`;

const recoverySection = (steps: readonly RecoveryStep[], zero: string): Html =>
  html`<section class="card recovery"><h2>Where the time went, from the ${zero} on</h2>
${pictures(recoveryPicture(steps), `The way from the ${zero} to the first commit`)}
${table(
  ['Step', ...numbers('took', `done after the ${zero}`)],
  steps.map(({ name, fromS, toS }) => [name, secondsShown(toS - fromS), `+${secondsShown(toS)}`]),
)}</section>`;

const maxEvidence = 20;
const shownLines = 4;
/** Raw records in the page itself. */
const maxStatic = 500;

function detailSections(data: ReportData): Html {
  const { findings, certificates, scenario, seed, cluster, timers, versions } = data.verdict;
  return html`${card(
    'Findings',
    html`
${findings.length === 0 ? html`<p>No checker found anything.</p>` : findings.map(finding)}
<p class="faint">How good is this audit? ${scoreInWords(data.verdict)}.</p>`,
  )}
${card(explained('Certificates: did the fault take effect, and was it healed?'), certificateTable(certificates))}
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
  const title = `${countInWords(rest.length)} more lines of evidence`;
  return html`<pre>${lines.slice(0, shownLines).join('\n')}</pre>
${rest.length === 0 ? '' : closed(title, html`<pre>${rest.join('\n')}</pre>`)}`;
}

/** A probe that was asked again and answered the same has one row. */
export function certificateTable(rows: Verdict['certificates']): Html {
  if (rows.length === 0) return html`<p>None.</p>`;
  const same = Map.groupBy(rows, ({ holds, moment, claim, evidence }) =>
    JSON.stringify([holds, moment, claim, evidence]),
  );
  return table(
    ['Holds', 'When', 'Claim', ...texts('Evidence')],
    [...same.values()].flatMap((all) =>
      all.slice(0, 1).map(({ holds, moment, claim, evidence }) => {
        const when = all.length === 1 ? moment : `${moment}, ${all.length} times`;
        return { cells: [holds ? 'yes' : 'NO', when, claim, evidence], style: holds ? '' : 'bad' };
      }),
    ),
  );
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
${table([...numbers('ended', 'after'), 'Operation', 'Node', 'Kind', 'Outcome', 'Error'], [])}
</details></section>`;

/** Those that tell the story, and those that prove it; the page's script puts in all the others. */
function rawRecords({ raw, rawMore, licence, laterLicences, timeline }: ReportData): Html {
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
${table(
  [...numbers('#', `after the ${timeline.zero}`), 'What', 'Source', ...texts('Detail')],
  shown.map(({ id, atS, kind, source, text }) => ({
    cells: [String(id), `${atS.toFixed(3)} s`, kind, source, [text, { class: 'mono' }]],
    attributes: { id: `r${id}` },
  })),
)}
</details></section>`;
}
