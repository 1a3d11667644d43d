/** What the probe answered, as one page that fetches nothing: of trials, of a cut, or predicted from documents. */
import { html } from 'hono/html';
import type { DiskMode } from '../../scenario/index.ts';
import { toldInSeconds } from '../../core/index.ts';
import { didInWords, hasRuns, reasonedInWords } from '../../batch/index.ts';
import {
  renderDocument,
  adviceCards,
  type Advice,
  card,
  list,
  numbers,
  pairs,
  table,
  texts,
  wideTable,
  type Html,
} from '../../report/index.ts';
import type { Certificate, CutCertificate, PredictionReport } from '../certificate.ts';
import { modesSeen } from '../judge/cut.ts';
import type { DetachOutcome } from '../judge/detach.ts';
import type { ForceDeleted } from '../judge/forced.ts';
import type { NextFinding } from '../judge/heard.ts';
import { answerWord } from '../judge/measured.ts';
import { type DetachVariant, cutPlanLines, detachVariants, planLines } from '../plan.ts';
import {
  countWords,
  forcedMeaning,
  forcedTitle,
  noRuns,
  parameterWords,
  predictedWord,
  refusedWords,
  remediesTitle,
  remedyRows,
  whoseRuns,
} from '../texts.ts';
import type { Figure } from '../judge/figures.ts';
import {
  certificateAdvice,
  certificateScreen,
  cutAdvice,
  cutScreen,
  predictionScreen,
} from './screen.ts';

type Pairs = [string, string][];

const lines = (all: readonly string[]): Html => html`<pre>${all.join('\n')}</pre>`;
/** Nothing where there is nothing to show. */
const cardOf = (title: string, content: Html | undefined): Html | string =>
  content === undefined ? '' : card(title, content);
const listCard = (title: string, all: readonly string[]): Html | string =>
  cardOf(title, all.length === 0 ? undefined : list(all));
const textCard = (title: string, text: string | undefined): Html | string =>
  cardOf(title, text === undefined ? text : html`<p class="alarm-text">${text}</p>`);

/** What a page of what was measured begins with. */
const lead = (left: string | undefined, shown: Html, advice: Advice): Html =>
  html`${textCard('Still there', left)}
<div class="lead">
<div>${shown}</div>
<div>${adviceCards(advice)}</div>
</div>`;

/** The same certificate gives the same bytes. */
export function renderCertificateHtml(certificate: Certificate): Promise<string> {
  const { answer, storageClass, driver, left, forceDeleted, findings, plan } = certificate;
  const counted = detachVariants.map((variant): [string, string] => [
    variantWords[variant],
    countsInWords(answer.counts[variant], outcomeWords),
  ]);
  const next = countsInWords(answer.next, nextPodWords);
  const shown = html`${card('What the trials showed', pairs([...counted, ['The next pod', next]]))}
${listCard('Notes', answer.notes)}`;
  const where: Pairs = [
    ['driver', driver.name],
    ['images', driver.images.join(', ') || 'not readable'],
    ['class', storageClass.name],
    ['parameters', parameterWords(storageClass.parameters)],
  ];
  const predicted = certificate.predicted ?? 'no prediction';
  return renderDocument({
    title: `${storageClass.name}: ${answerWord(answer)}`,
    screen: certificateScreen(certificate),
    main: html`${lead(left, shown, certificateAdvice(certificate))}
${card('How long it took', figures(answer.figures))}
${remedies(answer.modes)}
${card(
  'Every trial',
  wideTable(
    'Every trial',
    ['Trial', 'Outcome', ...texts('Why'), 'Error at the writer', ...texts('Next pod')],
    findings.map((trial) => [
      ...[trial.name, trial.outcome, trial.why, trial.error ?? '–', nextWords(trial.next)],
    ]),
  ),
)}
${cardOf(forcedTitle, forceDeleted && deletedByForce(forceDeleted))}
${whereCard(certificate, where, [
  ['predicted from documents', predicted],
  ...named('no raw volumes', certificate.noBlock),
])}
${card('What was done', lines(planLines(plan)))}`,
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
const nextPodWords: Readonly<Record<NextFinding['was'], string>> = {
  in: 'got the volume',
  refused: 'refused by the driver',
  'not-attached': 'not attached',
  barred: 'kept out by Kubernetes',
  waited: 'still waiting',
  'not-tried': 'not tried',
};

/** `5 not cut off, 1 undecided`. */
const countsInWords = <Word extends string>(
  counts: Readonly<Partial<Record<Word, number>>>,
  words: Readonly<Record<Word, string>>,
): string =>
  (Object.entries(counts) as [Word, number][])
    .map(([word, count]) => `${count} ${words[word] ?? word}`)
    .join(', ') || 'none';

const figures = (all: readonly Figure[]): Html =>
  all.length === 0
    ? html`<p>Nothing ended in these trials.</p>`
    : table(
        [...texts('What'), ...numbers('n', 'least', 'p50', 'p90', 'most')],
        all.map(({ what, n, leastMs, p50Ms, p90Ms, mostMs }) => [
          `${what}, ms`,
          ...[n, leastMs, p50Ms, p90Ms, mostMs].map(String),
        ]),
      );

/** What was not measured says so in its place. */
const remedies = (modes: readonly DiskMode[]): Html | string =>
  modes.length === 0
    ? ''
    : card(
        remediesTitle,
        html`<p>${hasRuns() ? whoseRuns : noRuns}</p>${remedyRows(modes).map(
          ({ mode, rows }) =>
            html`<h3>${mode}</h3>${wideTable(
              `${remediesTitle}: ${mode}`,
              [
                ...['The node: the remedy', 'Stock timers', 'Short timers'],
                ...texts('Reasoned, not measured'),
              ],
              rows.map((row) => [
                didInWords(row),
                ...[row.stock ?? 'not measured', row.short ?? 'not measured'],
                reasonedInWords(row),
              ]),
            )}`,
        )}`,
      );

const deletedByForce = ({ counts, next, figures: all, notes, findings }: ForceDeleted): Html =>
  html`<p>${forcedMeaning}</p>
${pairs([
  ['deleted by force', countWords(counts)],
  ['next pod', countWords(next)],
])}
${notes.length === 0 ? '' : list(notes)}
${figures(all)}
${wideTable(
  forcedTitle,
  [
    ...['Trial', 'Outcome'],
    ...texts('Why'),
    ...numbers('acknowledged after it', 'on the disk after it', 'beside the next pod’s'),
    ...texts('Event of the next pod'),
  ],
  findings.map((pod) => [
    ...[pod.name, pod.outcome, pod.why],
    ...[pod.ackedAfter ?? '–', pod.reachedAfter ?? '–'].map(String),
    ...[String(Math.max(pod.overlapAcks, pod.overlapSlots)), pod.told ?? pod.next.said ?? '–'],
  ]),
)}`;

const named = (name: string, value: string | undefined): Pairs =>
  value === undefined ? [] : [[name, value]];

const nextWords = ({ was, said }: NextFinding): string =>
  said === undefined ? was : `${was}: ${said}`;

const whereCard = (
  { nodes, planHash, refused, forcedetach }: Certificate | CutCertificate,
  before: Pairs,
  after: Pairs = [],
): Html =>
  card(
    'Where',
    pairs([
      ...before,
      ...nodes.map(
        ({ name, kubelet, kernel, osImage, runtime }) =>
          [
            ...([
              `node ${name}`,
              `kubelet ${kubelet}, kernel ${kernel}, ${osImage}, ${runtime}`,
            ] as const),
          ] as const,
      ),
      ...[['plan', planHash] as const, ...after],
      // Older certificates do not say.
      ...named('could not be read', refused && refusedWords(refused)),
      ['forcedetach', forcedetach],
    ]),
  );

/** The same certificate gives the same bytes. */
export function renderCutHtml(certificate: CutCertificate): Promise<string> {
  const { findings, plan, left, classes } = certificate;
  return renderDocument({
    title: `${plan.nodes[0]} was cut off: ${findings.length} volumes`,
    screen: cutScreen(certificate),
    main: html`${lead(left, card('When', pairs(times(certificate))), cutAdvice(certificate))}
${card('What happened to each class', underCut(certificate))}
${remedies(modesSeen(findings))}
${whereCard(
  certificate,
  classes.map(({ name, driver, parameters, storagePath }) => [
    `class ${name}`,
    `${driver}; parameters: ${parameterWords(parameters)}${storagePath === undefined ? '' : `; storage path: ${storagePath}`}`,
  ]),
)}
${card('What was done', lines(cutPlanLines(plan)))}`,
  });
}

const underCut = ({ findings }: CutCertificate): Html =>
  wideTable(
    'Every volume',
    [
      ...['Class', 'Outcome'],
      ...texts('Why'),
      'Behaves as',
      ...texts('Next pod'),
      ...numbers('writes beside it', 'after the heal'),
      'Error at the old pod',
    ],
    findings.map((finding) => {
      const { storageClass, outcome, why, modes, next, afterHealAcks, error } = finding;
      const beside = Math.max(finding.overlapAcks, finding.overlapSlots);
      return [
        ...[storageClass, outcome, why, modes.join(' or ') || '–', nextWords(next)],
        ...[String(beside), String(afterHealAcks), error ?? '–'],
      ];
    }),
  );

function times({ record }: CutCertificate): Pairs {
  const { cutMs, rehearsedMs } = record;
  const since = (atMs: number | undefined): string =>
    atMs === undefined || cutMs === undefined
      ? 'not observed'
      : `${toldInSeconds(atMs - cutMs)} after the cut`;
  return [
    ['rehearsed', rehearsedMs === undefined ? 'no' : `away for ${toldInSeconds(rehearsedMs)}`],
    ['not Ready, by the API', since(record.notReadyMs)],
    ['remedy', since(record.remedyMs)],
    ['reachable again, from the second node', since(record.healedMs)],
    ['Ready again, by the API', since(record.readyAgainMs)],
    ['nothing of it left, as the host reports', record.checked ? 'yes' : 'not observed'],
  ];
}

/** The same prediction gives the same bytes. Nothing was measured. */
export function renderPredictionHtml(answer: PredictionReport): Promise<string> {
  const { storageClass, prediction, plan, refusal, missingRights } = answer;
  return renderDocument({
    title: `${storageClass}, predicted: ${predictedWord(answer)}`,
    screen: predictionScreen(answer),
    main: html`${card(
      'What was read',
      wideTable(
        'What was read',
        ['What', ...texts('Found'), 'Where', 'How sure'],
        prediction.lines.map(({ what, found, source, sure }) => [what, found, source, sure]),
      ),
    )}
${cardOf('What trials would do', plan && lines(planLines(plan)))}
${cardOf('Why trials would be refused', refusal === undefined ? refusal : lines([refusal]))}
${listCard('Rights that trials need, and that are missing', missingRights)}
${card(
  'On what it rests',
  pairs([
    ['asked at', answer.askedAt],
    ['could not be read', refusedWords(answer.refused)],
    ['forcedetach', answer.forcedetach],
  ]),
)}`,
  });
}
