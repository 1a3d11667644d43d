/** What a reader gets in the first minute: headline, facts, what to do, the causes, the limits. */
import { html } from 'hono/html';
import { database } from '../database/chosen.ts';
import { headlineOf } from '../experiment/verdict/headline.ts';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import type { FeatureGates } from '../kubernetes-versions.ts';
import { countInWords } from '../counts.ts';
import { lostColumn, missingInWords, hasLostFile, lostFile } from './loss-words.ts';
import { percent, pictures, secondsShown, type Html } from './html-parts.ts';
import { noticedChip, noticesCard } from './html-notices.ts';
import { storyPicture } from './pictures.ts';
import type { LaterLicence, LicenceRow, LossRow, ReportData } from './types.ts';
import { explained } from './terms.ts';
import {
  exposureInWords,
  imageNames,
  meanings,
  onceInWords,
  secondMountInWords,
} from './wording.ts';

/** The headline, the sentence and the badges. */
export function pageHeader({ verdict, badge, expectation, disk }: ReportData): Html {
  const name = String(verdict.scenario['name']);
  const noticed = noticedChip(verdict);
  return html`<div class="band ${verdict.verdict}"></div>
<header>
<div class="top"><span>forcedetach · ${name} · run ${verdict.runId}</span>
<button id="theme" type="button">Light / dark</button></div>
<h1>${headlineOf(verdict)}</h1>
<p>${explained(verdict.sentence)}</p>
<p class="faint">${explained(disk)}</p>
<p class="faint">${onceInWords(verdict)}</p>
<div class="chips">
<span class="chip word ${verdict.verdict}">${verdict.verdict}</span>
${chip(badge, false)}
${versionsOf(verdict)}
${gatesOf(verdict)}
${chip(expectation, !verdict.asExpected && verdict.open !== true)}
${noticed === undefined ? '' : chip(noticed.short, verdict.noticed === 'silent')}
</div>
</header>`;
}

function versionsOf({ versions }: Verdict): Html | string {
  const numberIn = (text = ''): string | undefined => /\d+\.\d+(\.\d+)?/.exec(text)?.[0];
  const named = [
    ['Kubernetes', numberIn(versions['kubernetes'])],
    [database.title, numberIn(versions[database.name])],
  ].filter(([, version]) => version !== undefined);
  return named.length === 0 ? '' : chip(named.map((each) => each.join(' ')).join(' · '), false);
}

/** Gates that are not as the version has them: the numbers are of no stock cluster. */
function gatesOf({ scenario }: Verdict): Html[] {
  const gates = (scenario['featureGates'] ?? {}) as FeatureGates;
  return Object.entries(gates).map(([name, on]) => chip(`${name} ${on ? 'on' : 'off'}`, true));
}

const chip = (text: string, alarm: boolean): Html =>
  html`<span class="chip ${alarm ? 'alarm' : ''}">${text}</span>`;

/** Facts, what to make of them, losses and causes. */
export function verdictSections(data: ReportData): Html {
  const { verdict } = data;
  return html`${verdict.verdict === 'inconclusive' ? missingEvidence(verdict) : ''}
<div class="two">
<section class="card"><h2>What to do</h2>${list(data.advice)}</section>
<section class="card"><h2>This applies to you if</h2>${list(data.appliesIf)}
<p class="faint">${data.drivers}</p></section>
</div>
${facts(data)}
${story(data)}
<div class="two">
<section class="card"><h2>${explained('Acknowledged commits')}, by when they were acknowledged</h2>
${data.loss.length === 0 ? noLoss : lossTable(data.loss, lostColumn(verdict))}
${verdict.images.length === 0 ? '' : imageTable(verdict)}</section>
<section class="card"><h2>What let the second writer in</h2>
<p class="faint">The chain of recorded decisions; each leads to its record.</p>
${licence(data.licence, verdict)}${gapsOf(data.licenceGaps)}
${data.laterLicences.map(laterLicence)}</section>
</div>
${verdict.verdict === 'inconclusive' || verdict.complete ? '' : missingEvidence(verdict)}
${noticesCard(verdict)}
<div class="two">
<section class="card"><h2>Not tested here</h2>${list(data.notTested)}${modelLimits(data)}</section>
<section class="card"><h2>Run it again</h2><pre>${verdict.replay}</pre></section>
</div>`;
}

function facts({ verdict }: ReportData): Html {
  const { availability, serving } = verdict;
  const { downtimeMs } = availability;
  const exposure = exposureInWords(verdict);
  const mount = secondMountInWords(verdict);
  return html`<dl class="facts">
${safetyFact(verdict)}
${missingInWords(verdict).map(({ name, value, more }) => fact(name, value, more))}
${fact(
  'Downtime',
  downtimeMs === null ? 'unknown' : secondsShown(downtimeMs / 1000),
  serving.served ? 'commits came back' : 'no commits came back in time',
)}
${fact('Two could write for', exposure.value, exposure.more)}
${fact('Second mount', mount.value, mount.more)}
</dl>`;
}

/** An inconclusive run never shows a comforting word. */
const safetyFact = ({ verdict, safety }: ReportData['verdict']): Html =>
  verdict === 'inconclusive'
    ? fact('Safety', 'not proven', `worst that was seen: ${safety}`, verdict)
    : fact('Safety', safety, meanings[safety], safety);

const fact = (name: string, value: string, more: string, tone = 'plain'): Html =>
  html`<div><dt>${explained(name)}</dt><dd class="${tone}-text">${value}<small>${explained(more)}</small></dd></div>`;

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
  const about = 'Who had the volume mounted and whose database was up; the causes below say why';
  return html`<section class="card story"><h2>Who had the volume</h2>
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
      ? 'The evidence is not complete: this run proves nothing'
      : 'Some evidence is missing; what was proven stands';
  return html`<section class="card missing"><h2>${title}</h2>${list(incompleteBecause)}</section>`;
}

const noLoss = html`<p>What became of them is not known: no copy after the fault could be audited.</p>`;

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
  html`<li><span class="at">+${secondsShown(atS)}</span><span>${explained(step)}${by === undefined ? '' : `: ${by}`}
<span class="faint">${source}${
    rowId === null ? html`: ${evidence}` : html`, <a href="#r${rowId}">record ${rowId}</a>`
  }</span></span></li>`;

const list = (lines: readonly string[]): Html =>
  html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
