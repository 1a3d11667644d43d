/** What a reader gets in the first minute: the chart, the causes, what to do, facts, the limits. */
import { html } from 'hono/html';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import { countInWords } from '../counts.ts';
import { adviceCards, factList, list } from './first-screen.ts';
import { lostColumn, hasLostFile, lostFile } from './loss-words.ts';
import { percent, pictures, secondsShown, type Html } from './html-parts.ts';
import { noticesCard } from './html-notices.ts';
import { storyPicture } from './pictures.ts';
import { runFacts } from './run-screen.ts';
import type { LaterLicence, LicenceRow, LossRow, ReportData } from './types.ts';
import { explained } from './terms.ts';
import { imageNames } from './wording.ts';

/** Chart, causes and advice beside each other, then facts, losses and limits. */
export function verdictSections(data: ReportData): Html {
  const { verdict } = data;
  return html`${verdict.verdict === 'inconclusive' ? missingEvidence(verdict) : ''}
<div class="lead">
<div>${story(data)}
${adviceCards(data)}</div>
<section class="card"><h2>${causesTitle(verdict)}</h2>
${licence(data.licence, verdict)}${gapsOf(data.licenceGaps)}
${data.laterLicences.map(laterLicence)}</section>
</div>
${factList(runFacts(verdict))}
<section class="card"><h2>${explained('Acknowledged commits')}, by when they were acknowledged</h2>
${data.loss.length === 0 ? noLoss : lossTable(data.loss, lostColumn(verdict))}
${verdict.images.length === 0 ? '' : imageTable(verdict)}</section>
${verdict.verdict === 'inconclusive' || verdict.complete ? '' : missingEvidence(verdict)}
${noticesCard(verdict)}
<div class="two">
<section class="card"><h2>Not tested here</h2>${list(data.notTested)}${modelLimits(data)}</section>
<section class="card"><h2>Run it again</h2><pre>${verdict.replay}</pre></section>
</div>`;
}

const causesTitle = ({ exposure, phases }: Verdict): string =>
  exposure.ms > 0
    ? 'What let the second writer in'
    : phases.secondMount === null
      ? 'Whether the volume moved'
      : 'How the volume moved';

/** What the model does not know, which fits every prediction; closed, since it is long. */
const modelLimits = ({ modelLimits }: ReportData): Html | string =>
  modelLimits.length === 0
    ? ''
    : html`<details><summary>${modelLimits.length} things that the model does not know</summary>
${list(modelLimits)}</details>`;

/** Who had the volume, at a glance, before any reading. */
function story({ timeline }: ReportData): Html | string {
  const [wide, narrow] = [storyPicture(timeline, false), storyPicture(timeline, true)];
  if (wide === undefined || narrow === undefined) return '';
  const about = 'Which node had the volume mounted and whose database was up; the causes say why';
  return html`<section class="card story"><h2>Which node had the volume</h2>
<div class="wide">${pictures(wide, about)}</div>
<div class="narrow">${pictures(narrow, about)}</div></section>`;
}

/** Proven damage stands without it; nothing else does. */
export function missingEvidence({
  verdict,
  incompleteBecause,
}: Pick<Verdict, 'verdict' | 'incompleteBecause'>): Html {
  const title =
    verdict === 'inconclusive'
      ? 'The evidence is incomplete: this run proves nothing'
      : 'Some evidence is missing; what was proven stands';
  return html`<section class="card missing"><h2>${title}</h2>${list(incompleteBecause)}</section>`;
}

const noLoss = html`<p>Their fate is not known: no copy of the volume after the fault could be audited.</p>`;

const lossTable = (rows: readonly LossRow[], lost: string): Html =>
  html`<table>
<thead><tr><th>Acknowledged</th><th class="number">commits</th><th class="number">${lost}</th>
<th class="number">share</th></tr></thead>
<tbody>${rows.map(lossRow)}</tbody></table>`;

const lossRow = ({ epoch, acked, lost }: LossRow): Html =>
  html`<tr class="${lost > 0 ? 'bad' : ''}"><td>${explained(epoch)}</td><td class="number">${countInWords(acked)}</td>
<td class="number">${countInWords(lost)}</td><td class="number">${percent(lost, acked)}</td></tr>`;

const lostLink = html`<p>Each lost commit: <a href="${lostFile}">${lostFile}</a>, beside this page.</p>`;

const imageTable = (verdict: Verdict): Html =>
  html`<h3>By copy of the volume</h3><table>
<thead><tr><th>Copied</th><th class="number">must hold</th><th class="number">not found</th>
<th>readable</th></tr></thead>
<tbody>${verdict.images.map(imageRow)}</tbody></table>${hasLostFile(verdict) ? lostLink : ''}`;

const imageRow = ({ image, acked, lost, readable }: Verdict['images'][number]): Html =>
  html`<tr class="${lost !== 0 || !readable ? 'bad' : ''}"><td>${explained(imageNames[image])}</td>
<td class="number">${countInWords(acked)}</td><td class="number">${lost === null ? 'not known' : countInWords(lost)}</td>
<td>${readable ? 'to the end' : 'no'}</td></tr>`;

function licence(rows: readonly LicenceRow[], { phases, horizonS }: Verdict): Html {
  if (rows.length > 0) return html`<ol class="licence">${rows.map(licenceRow)}</ol>`;
  if (horizonS === 0) return html`<p>The fault never came.</p>`;
  const came =
    phases.attached === null
      ? ''
      : ` It was attached to another one ${secondsShown(phases.attached)} after the fault.`;
  return html`<p>No second node mounted the volume within ${secondsShown(horizonS)} after the
fault.${came}</p>`;
}

const gapsOf = (gaps: readonly string[]): Html =>
  gaps.length === 0 ? html`` : html`<p class="faint">Missing: ${gaps.join('; ')}.</p>`;

const laterLicence = ({ title, rows, gaps }: LaterLicence): Html =>
  html`<details><summary>Later, after ${title}</summary>
<ol class="licence">${rows.map(licenceRow)}</ol>${gapsOf(gaps)}</details>`;

/** The record says it in full; the evidence stands here only where no record was matched. */
const licenceRow = ({ atS, step, source, evidence, by, rowId }: LicenceRow): Html =>
  html`<li><span class="at">+${atS.toFixed(1)} s</span><span>${explained(step)}${by === undefined ? '' : `: ${by}`}
<span class="faint">${source}${
    rowId === null ? html`: ${evidence}` : html`, <a href="#r${rowId}">record ${rowId}</a>`
  }</span></span></li>`;
