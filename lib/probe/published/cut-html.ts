/** A cut's certificate as one page that fetches nothing: each class's answer, the times, every volume. */
import { html } from 'hono/html';
import { toldInSeconds } from '../../durations.ts';
import { renderDocument } from '../../report/document.ts';
import { pairs, wide, type Html } from '../../report/html-parts.ts';
import type { CutCertificate } from '../cut/certificate.ts';
import type { CutFinding } from '../cut/classify.ts';
import { cutPlanLines } from '../cut/plan.ts';
import { card, parameterWords } from './html.ts';

/** The same certificate gives the same bytes. */
export function renderCutHtml(certificate: CutCertificate): Promise<string> {
  const { findings, plan, left } = certificate;
  return renderDocument({
    title: `${plan.nodes[0]} was cut off: ${findings.length} volumes`,
    header: pageHeader(certificate),
    main: html`${left === undefined ? '' : card('Still there', html`<p class="alarm-text">${left}</p>`)}
${card('What became of each class', classes(findings))}
${card('When', pairs(times(certificate)))}
${card('Where', pairs(where(certificate)))}
${card('What was done', html`<pre>${cutPlanLines(plan).join('\n')}</pre>`)}`,
  });
}

function pageHeader({ plan, kubernetes, beganAt, findings, timers }: CutCertificate): Html {
  const isTold = findings.some(({ outcome }) => outcome !== 'undecided');
  const chips = [
    `Kubernetes ${kubernetes}`,
    `cut by ${plan.way}`,
    plan.remedy,
    plan.volumeMode,
    `from ${beganAt}`,
  ];
  const pace =
    timers.length === 0
      ? 'The controller manager’s timers are as it ships, as far as could be read.'
      : `The controller manager runs with ${timers.join(' ')}.`;
  return html`<div class="band ${isTold ? '' : 'inconclusive'}"></div>
<header>
<div class="top"><span>forcedetach probe --cut</span></div>
<h1>What became of ${findings.length} volumes while ${plan.nodes[0]} was silent</h1>
<p class="faint">n = 1 for each class: one cut shows what can happen, not how often. ${pace}</p>
<div class="chips">${chips.map((chip) => html`<span class="chip">${chip}</span>`)}</div>
</header>`;
}

const classes = (findings: readonly CutFinding[]): Html =>
  wide(
    'Every volume',
    html`<table><thead><tr><th>Class</th><th>Outcome</th><th>Why</th><th>Does so</th><th>Next pod</th><th class="number">writes beside it</th><th class="number">after the heal</th><th>The old pod was told</th></tr></thead>
<tbody>${findings.map(
      ({ storageClass, outcome, why, modes, next, overlapAcks, afterHealAcks, error }) =>
        html`<tr><td>${storageClass}</td><td>${outcome}</td><td class="text">${why}</td><td>${modes.join(' or ') || '–'}</td><td class="text">${[next.was, ...(next.said === undefined ? [] : [next.said])].join(': ')}</td><td class="number">${overlapAcks}</td><td class="number">${afterHealAcks}</td><td>${error ?? '–'}</td></tr>`,
    )}</tbody></table>`,
  );

function times({ record }: CutCertificate): [string, string][] {
  const since = (atMs: number | undefined): string =>
    atMs === undefined || record.cutMs === undefined
      ? 'never seen'
      : `${toldInSeconds(atMs - record.cutMs)} after the cut`;
  return [
    [
      'rehearsed',
      record.rehearsedMs === undefined ? 'no' : `away for ${toldInSeconds(record.rehearsedMs)}`,
    ],
    ['not Ready, by the API', since(record.notReadyMs)],
    ['remedy', since(record.remedyMs)],
    ['reachable again, from the second node', since(record.healedMs)],
    ['Ready again, by the API', since(record.readyAgainMs)],
    ['nothing of it left, by the host itself', record.checked ? 'yes' : 'not seen'],
  ];
}

const where = (certificate: CutCertificate): [string, string][] => [
  ...certificate.classes.map(({ name, driver, parameters }): [string, string] => [
    `class ${name}`,
    `${driver}; parameters: ${parameterWords(parameters)}`,
  ]),
  ...certificate.nodes.map(({ name, ...node }): [string, string] => [
    `node ${name}`,
    `kubelet ${node.kubelet}, kernel ${node.kernel}, ${node.osImage}, ${node.runtime}`,
  ]),
  ['plan', certificate.planHash],
  ['forcedetach', certificate.forcedetach],
];
