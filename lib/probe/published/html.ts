/** A certificate, of trials or of a cut, as one page that fetches nothing: the answer, what it rests on, all that was tried. */
import { html } from 'hono/html';
import type { DiskMode } from '../../disk-modes/index.ts';
import { toldInSeconds } from '../../durations.ts';
import {
  didInWords,
  hasRuns,
  reasonedInWords,
  type RemedyRow,
} from '../../expectations/on-such-a-disk.ts';
import { renderDocument } from '../../report/document.ts';
import { adviceCards, list, pageHeader } from '../../report/first-screen.ts';
import { card, type Html, pairs, wide } from '../../report/html-parts.ts';
import type { CutCertificate } from '../cut/certificate.ts';
import type { CutFinding } from '../cut/classify.ts';
import { cutPlanLines } from '../cut/cut-plan.ts';
import { modesSeen } from '../cut/texts.ts';
import { planLines, type DetachVariant } from '../trial-plan.ts';
import { noRuns, remediesTitle, remedyRows, whoseRuns } from '../remedies.ts';
import { answerWord, countWords, forcedMeaning, forcedTitle, refusedWords } from '../texts.ts';
import type { Certificate } from '../trials/certificate.ts';
import type { DetachOutcome, TrialFinding } from '../trials/classify.ts';
import type { ForcedFinding, ForceDeleted } from '../trials/force-deleted.ts';
import type { Figure } from '../trials/measured.ts';
import { certificateAdvice, certificateScreen, cutAdvice, cutScreen } from './screen.ts';

/** The same certificate gives the same bytes. */
export function renderCertificateHtml(certificate: Certificate): Promise<string> {
  const { answer, storageClass, left, forceDeleted } = certificate;
  return renderDocument({
    title: `${storageClass.name}: ${answerWord(answer)}`,
    header: pageHeader(certificateScreen(certificate)),
    main: html`${left === undefined ? '' : card('Still there', html`<p class="alarm-text">${left}</p>`)}
<div class="lead">
<div>${card('What the trials showed', pairs(counted(certificate)))}
${answer.notes.length === 0 ? '' : card('Notes', list(answer.notes))}</div>
<div>${adviceCards(certificateAdvice(certificate))}</div>
</div>
${card('How long it took', figures(answer.figures))}
${answer.modes.length === 0 ? '' : card(remediesTitle, remedies(answer.modes))}
${card('Every trial', trials(certificate.findings))}
${forceDeleted === undefined ? '' : card(forcedTitle, deletedByForce(forceDeleted))}
${card('Where', pairs(where(certificate)))}
${card('What was done', html`<pre>${planLines(certificate.plan).join('\n')}</pre>`)}`,
  });
}

const variantWords: Readonly<Record<DetachVariant, string>> = {
  kept: 'Attachment deleted while the pod writes',
  idle: 'Attachment deleted while the pod is idle',
  contested: 'Attachment deleted while a pod on the other node waits',
};
const outcomeWords: Readonly<Record<DetachOutcome, string>> = {
  cut: 'cut off before the detach was answered',
  'late-cut': 'cut off after the detach was answered',
  'cut-by-next': 'cut off once the next node had the volume',
  'cut-unanswered': 'cut off, and the detach was not answered',
  'not-cut': 'not cut off',
  pending: 'not detached (refused or hanging)',
  undecided: 'undecided',
};
const nextPodWords: Readonly<Record<TrialFinding['next']['was'], string>> = {
  in: 'got the volume',
  refused: 'refused by the driver',
  'not-attached': 'not attached',
  barred: 'kept out by Kubernetes',
  waited: 'still waiting',
  'not-tried': 'not tried',
};

/** `5 not cut off, 1 undecided`. */
const told = <Word extends string>(
  counts: Readonly<Partial<Record<Word, number>>>,
  words: Readonly<Record<Word, string>>,
): string =>
  (Object.entries(counts) as [Word, number][])
    .map(([word, count]) => `${count} ${words[word] ?? word}`)
    .join(', ') || 'none';

const counted = ({ answer }: Certificate): [string, string][] => [
  ...(Object.entries(variantWords) as [DetachVariant, string][]).map(
    ([variant, words]): [string, string] => [words, told(answer.counts[variant], outcomeWords)],
  ),
  ['The next pod', told(answer.next, nextPodWords)],
];

const figures = (all: readonly Figure[]): Html =>
  all.length === 0
    ? html`<p>Nothing ended in these trials.</p>`
    : html`<table><thead><tr><th>What</th><th class="number">n</th><th class="number">least</th><th class="number">p50</th><th class="number">p90</th><th class="number">most</th></tr></thead>
<tbody>${all.map(({ what, n, ...ms }) => {
        const cells = [n, ms.leastMs, ms.p50Ms, ms.p90Ms, ms.mostMs];
        return html`<tr><td class="text">${what}, ms</td>${cells.map((cell) => html`<td class="number">${cell}</td>`)}</tr>`;
      })}</tbody></table>`;

/** What was not measured says so in its place. */
const remedies = (modes: readonly DiskMode[]): Html =>
  html`<p>${hasRuns() ? whoseRuns : noRuns}</p>${remedyRows(modes).map(
    ({ mode, rows }) =>
      html`<h3>${mode}</h3>${wide(
        `${remediesTitle}: ${mode}`,
        html`<table><thead><tr><th>The node: the remedy</th><th>Stock timers</th><th>Short timers</th><th>Reasoned, not measured</th></tr></thead>
<tbody>${rows.map(remedyRow)}</tbody></table>`,
      )}`,
  )}`;

const remedyRow = (row: RemedyRow): Html =>
  html`<tr><td>${didInWords(row)}</td><td>${row.stock ?? 'not measured'}</td><td>${row.short ?? 'not measured'}</td><td class="text">${reasonedInWords(row)}</td></tr>`;

const trials = (findings: readonly TrialFinding[]): Html =>
  wide(
    'Every trial',
    html`<table><thead><tr><th>Trial</th><th>Outcome</th><th>Why</th><th>Error at the writer</th><th>Next pod</th></tr></thead>
<tbody>${findings.map(
      ({ name, outcome, why, error, next }) =>
        html`<tr><td>${name}</td><td>${outcome}</td><td class="text">${why}</td><td>${error ?? '–'}</td><td class="text">${nextWords(next)}</td></tr>`,
    )}</tbody></table>`,
  );

const deletedByForce = ({ counts, next, figures: all, notes, findings }: ForceDeleted): Html =>
  html`<p>${forcedMeaning}</p>
${pairs([
  ['deleted by force', countWords(counts)],
  ['next pod', countWords(next)],
])}
${notes.length === 0 ? '' : html`<ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`}
${figures(all)}
${wide(
  forcedTitle,
  html`<table><thead><tr><th>Trial</th><th>Outcome</th><th>Why</th><th class="number">acknowledged after it</th><th class="number">on the disk after it</th><th class="number">beside the next pod’s</th><th>Event of the next pod</th></tr></thead>
<tbody>${findings.map(forcedRow)}</tbody></table>`,
)}`;

function forcedRow(finding: ForcedFinding): Html {
  const { name, outcome, why, ackedAfter, reachedAfter, overlapAcks, overlapSlots } = finding;
  const beside = Math.max(overlapAcks, overlapSlots);
  const cells = [ackedAfter ?? '–', reachedAfter ?? '–', beside];
  return html`<tr><td>${name}</td><td>${outcome}</td><td class="text">${why}</td>${cells.map((cell) => html`<td class="number">${cell}</td>`)}<td class="text">${finding.told ?? finding.next.said ?? '–'}</td></tr>`;
}

const where = (certificate: Certificate): [string, string][] => [
  ['driver', certificate.driver.name],
  ['images', certificate.driver.images.join(', ') || 'not readable'],
  ['class', certificate.storageClass.name],
  ['parameters', parameterWords(certificate.storageClass.parameters)],
  ...nodes(certificate),
  ['plan', certificate.planHash],
  ['predicted from documents', certificate.predicted ?? 'no prediction'],
  ...(certificate.noBlock === undefined
    ? []
    : [['no raw volumes', certificate.noBlock] as [string, string]]),
  ...notRead(certificate),
  ['forcedetach', certificate.forcedetach],
];

/** Older certificates do not say. */
const notRead = ({ refused }: Pick<Certificate, 'refused'>): [string, string][] =>
  refused === undefined ? [] : [['could not be read', refusedWords(refused)]];

const nextWords = ({ was, said }: TrialFinding['next']): string =>
  said === undefined ? was : `${was}: ${said}`;

const nodes = (certificate: Pick<Certificate, 'nodes'>): [string, string][] =>
  certificate.nodes.map(({ name, kubelet, kernel, osImage, runtime }) => [
    `node ${name}`,
    `kubelet ${kubelet}, kernel ${kernel}, ${osImage}, ${runtime}`,
  ]);

export const parameterWords = (parameters: Readonly<Record<string, string>>): string =>
  Object.entries(parameters)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ') || 'none';

/** The same certificate gives the same bytes. */
export function renderCutHtml(certificate: CutCertificate): Promise<string> {
  const { findings, plan, left } = certificate;
  const modes = modesSeen(findings);
  return renderDocument({
    title: `${plan.nodes[0]} was cut off: ${findings.length} volumes`,
    header: pageHeader(cutScreen(certificate)),
    main: html`${left === undefined ? '' : card('Still there', html`<p class="alarm-text">${left}</p>`)}
<div class="lead">
<div>${card('When', pairs(times(certificate)))}</div>
<div>${adviceCards(cutAdvice(certificate))}</div>
</div>
${card('What happened to each class', classes(findings))}
${modes.length === 0 ? '' : card(remediesTitle, remedies(modes))}
${card('Where', pairs(cutWhere(certificate)))}
${card('What was done', html`<pre>${cutPlanLines(plan).join('\n')}</pre>`)}`,
  });
}

const classes = (findings: readonly CutFinding[]): Html =>
  wide(
    'Every volume',
    html`<table><thead><tr><th>Class</th><th>Outcome</th><th>Why</th><th>Behaves as</th><th>Next pod</th><th class="number">writes beside it</th><th class="number">after the heal</th><th>Error at the old pod</th></tr></thead>
<tbody>${findings.map(classRow)}</tbody></table>`,
  );

function classRow(finding: CutFinding): Html {
  const { storageClass, outcome, why, modes, next, afterHealAcks, error } = finding;
  // Older findings have no slots.
  const beside = Math.max(finding.overlapAcks, finding.overlapSlots ?? 0);
  return html`<tr><td>${storageClass}</td><td>${outcome}</td><td class="text">${why}</td><td>${modes.join(' or ') || '–'}</td><td class="text">${nextWords(next)}</td><td class="number">${beside}</td><td class="number">${afterHealAcks}</td><td>${error ?? '–'}</td></tr>`;
}

function times({ record }: CutCertificate): [string, string][] {
  const since = (atMs: number | undefined): string =>
    atMs === undefined || record.cutMs === undefined
      ? 'not observed'
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
    ['nothing of it left, as the host reports', record.checked ? 'yes' : 'not observed'],
  ];
}

const cutWhere = (certificate: CutCertificate): [string, string][] => [
  ...certificate.classes.map(({ name, driver, parameters, storagePath }): [string, string] => [
    `class ${name}`,
    `${driver}; parameters: ${parameterWords(parameters)}${storagePath === undefined ? '' : `; storage path: ${storagePath}`}`,
  ]),
  ...nodes(certificate),
  ['plan', certificate.planHash],
  ...notRead(certificate),
  ['forcedetach', certificate.forcedetach],
];
