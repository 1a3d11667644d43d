/** The report of a run on a group: one self-contained page without scripts. */
import { html } from 'hono/html';
import { renderDocument } from '../report/document.ts';
import { certificateTable } from '../report/html-details.ts';
import { adviceCards, factList, pageHeader } from '../report/first-screen.ts';
import { missingEvidence } from '../report/html-first-screen.ts';
import { countInWords } from '../counts.ts';
import { pairs, pictures, secondsShown, type Html } from '../report/html-parts.ts';
import { leadWidth, recoveryPicture } from '../report/pictures.ts';
import { customInWords } from '../report/wording.ts';
import { phaseRows, stalestText } from './phases.ts';
import type { Loss } from '../experiment/verdict/verdict.ts';
import { groupAdvice, groupFacts, groupScreen } from './screen.ts';
import type { GroupVerdict } from './verdict.ts';

/** A complete HTML document; the same verdict gives the same bytes. */
export const renderGroupHtml = (verdict: GroupVerdict): Promise<string> =>
  renderDocument({
    title: `${verdict.verdict.toUpperCase()}: group replication (${verdict.runId})`,
    header: pageHeader(groupScreen(verdict)),
    main: html`${verdict.complete ? '' : missingEvidence(verdict)}
<div class="lead">
${timesCard(verdict)}
<div>${adviceCards(groupAdvice(verdict))}</div>
</div>
${factList(groupFacts(verdict))}
<div class="two">
<section class="card"><h2>Acknowledged commits, by when they were acknowledged</h2>
${lossTable(verdict)}
<h2>The old primary meanwhile</h2>${victimTable(verdict)}</section>
<section class="card"><h2>Members at the end</h2>${memberTable(verdict)}
<h2>Findings</h2>${findings(verdict)}
<h2>Run it again</h2><pre>${verdict.replay}</pre></section>
</div>
${details(verdict)}`,
  });

function timesCard(verdict: GroupVerdict): Html {
  const { suspected, expelled, firstCommit } = verdict.phases;
  const steps =
    suspected === null || expelled === null || firstCommit === null
      ? []
      : [
          { name: 'suspected', fromS: 0, toS: suspected },
          { name: 'expelled', fromS: suspected, toS: expelled },
          { name: 'first commit', fromS: expelled, toS: firstCommit },
        ];
  const about = 'The time until the first commit; the table below has its steps.';
  return html`<section class="card"><h2>What happened when</h2>
${steps.length === 0 ? '' : pictures(recoveryPicture(steps, leadWidth), about)}
<table><thead><tr><th class="number">After the fault</th><th>Event</th></tr></thead>
<tbody>${phaseRows(verdict).map(
    ({ s, what }) => html`<tr><td class="number">+${s.toFixed(1)} s</td><td>${what}</td></tr>`,
  )}</tbody></table></section>`;
}

const epochs: Readonly<Record<keyof Loss, string>> = {
  beforeFault: 'before the fault',
  victimBeforeHandover: 'by the old primary, before another one',
  victimAfterHandover: 'by the old primary, after it',
  successor: 'by the new primary',
};

const lossTable = ({ loss }: GroupVerdict): Html => html`<table>
<thead><tr><th>Acknowledged</th><th class="number">commits</th><th class="number">lost</th></tr></thead>
<tbody>${Object.entries(loss ?? {}).map(
  ([epoch, { acked, lost }]) => html`<tr class="${lost > 0 ? 'bad' : ''}">
<td>${epochs[epoch as keyof typeof epochs]}</td><td class="number">${countInWords(acked)}</td>
<td class="number">${countInWords(lost)}</td></tr>`,
)}</tbody></table>`;

function victimTable(verdict: GroupVerdict): Html {
  const { victim } = verdict;
  const { acked, refused, unknown, readsAnswered, readsRefused, staleReads } = victim;
  return pairs([
    ['Node', victim.node],
    ['Commits', `${acked} acknowledged, ${refused} refused, ${unknown} of unknown outcome`],
    [
      'Reads',
      `${readsAnswered} answered, ${readsRefused} refused, ${staleReads} stale${stalestText(verdict)}`,
    ],
    ['Called itself primary beside another', secondsShown(victim.claimedMs / 1000)],
  ]);
}

const memberTable = ({ members }: GroupVerdict): Html => html`<table>
<thead><tr><th>Node</th><th class="number">rows</th><th>as the group’s primary</th>
<th>beyond the group</th></tr></thead>
<tbody>${members.map(
  ({ node, rows, agrees, beyond }) => html`<tr class="${agrees === false ? 'bad' : ''}">
<td>${node}</td><td class="number">${rows === null ? '–' : countInWords(rows)}</td>
<td>${agrees === null ? 'not comparable' : agrees ? 'yes' : 'no'}</td>
<td>${beyond === '' ? 'nothing' : beyond}</td></tr>`,
)}</tbody></table>`;

const findings = ({ findings: all }: GroupVerdict): Html =>
  all.length === 0
    ? html`<p>None.</p>`
    : html`<ul>${all.map(({ code, summary }) => html`<li><b>${code}</b>: ${summary}</li>`)}</ul>`;

function details(verdict: GroupVerdict): Html {
  const { certificates, settings, timers, versions } = verdict;
  const custom = customInWords(verdict);
  const own = custom === undefined ? {} : { 'The caller’s own, not vouched for': custom };
  return html`<section class="card"><h2>Proof that the fault was there, and that it was healed</h2>
${certificateTable(certificates)}</section>
<section class="card"><h2>Settings, timers, versions</h2>
${pairs(Object.entries({ ...settings, ...timers, ...versions, ...own }))}</section>`;
}
