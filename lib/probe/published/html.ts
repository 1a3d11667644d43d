/** What the probe answered, as one page that fetches nothing: of trials, of a cut, or predicted from documents. */
import { html } from 'hono/html';
import type { DiskMode } from '../../disk-modes/index.ts';
import { toldInSeconds } from '../../durations.ts';
import { didInWords, hasRuns, reasonedInWords } from '../../expectations/on-such-a-disk.ts';
import { renderDocument } from '../../report/document.ts';
import { adviceCards } from '../../report/first-screen.ts';
import {
  card,
  list,
  numbers,
  pairs,
  table,
  texts,
  wideTable,
  type Html,
} from '../../report/html-parts.ts';
import type { Certificate, CutCertificate, PredictionReport } from '../certificate.ts';
import { type CutFinding, modesSeen } from '../judge/cut.ts';
import type { DetachOutcome, TrialFinding } from '../judge/detach.ts';
import type { ForceDeleted, ForcedFinding } from '../judge/forced.ts';
import { answerWord } from '../judge/measured.ts';
import { type DetachVariant, cutPlanLines, planLines } from '../plan.ts';
import {
  countWords,
  forcedMeaning,
  forcedTitle,
  noRuns,
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
  predictedWord,
  predictionScreen,
} from './screen.ts';

type Pairs = [string, string][];

const lines = (all: readonly string[]): Html => html`<pre>${all.join('\n')}</pre>`;
/** Nothing where there is nothing to show. */
const cardOf = (title: string, content: Html | undefined): Html | string =>
  content === undefined ? '' : card(title, content);
const leftCard = (left: string | undefined): Html | string =>
  cardOf('Still there', left === undefined ? left : html`<p class="alarm-text">${left}</p>`);

/** The same certificate gives the same bytes. */
export function renderCertificateHtml(certificate: Certificate): Promise<string> {
  const { answer, storageClass, left, forceDeleted, findings, plan } = certificate;
  const { notes, modes } = answer;
  return renderDocument({
    title: `${storageClass.name}: ${answerWord(answer)}`,
    screen: certificateScreen(certificate),
    main: html`${leftCard(left)}
<div class="lead">
<div>${card('What the trials showed', pairs(counted(certificate)))}
${cardOf('Notes', notes.length === 0 ? undefined : list(notes))}</div>
<div>${adviceCards(certificateAdvice(certificate))}</div>
</div>
${card('How long it took', figures(answer.figures))}
${remedies(modes)}
${card('Every trial', trials(findings))}
${cardOf(forcedTitle, forceDeleted && deletedByForce(forceDeleted))}
${card('Where', pairs(where(certificate)))}
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
const nextPodWords: Readonly<Record<TrialFinding['next']['was'], string>> = {
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

const counted = ({ answer }: Certificate): Pairs => [
  ...(Object.entries(variantWords) as [DetachVariant, string][]).map(
    ([variant, words]): [string, string] => [
      words,
      countsInWords(answer.counts[variant], outcomeWords),
    ],
  ),
  ['The next pod', countsInWords(answer.next, nextPodWords)],
];

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

const trials = (findings: readonly TrialFinding[]): Html =>
  wideTable(
    'Every trial',
    ['Trial', 'Outcome', ...texts('Why'), 'Error at the writer', ...texts('Next pod')],
    findings.map(({ name, outcome, why, error, next }) => [
      ...[name, outcome, why, error ?? '–', nextWords(next)],
    ]),
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
  findings.map(forcedCells),
)}`;

function forcedCells(finding: ForcedFinding): string[] {
  const { name, outcome, why, ackedAfter, reachedAfter, overlapAcks, overlapSlots } = finding;
  const beside = Math.max(overlapAcks, overlapSlots);
  const event = finding.told ?? finding.next.said ?? '–';
  const numbers = [ackedAfter ?? '–', reachedAfter ?? '–', beside].map(String);
  return [name, outcome, why, ...numbers, event];
}

const where = (certificate: Certificate): Pairs => [
  ['driver', certificate.driver.name],
  ['images', certificate.driver.images.join(', ') || 'not readable'],
  ['class', certificate.storageClass.name],
  ['parameters', parameterWords(certificate.storageClass.parameters)],
  ...nodes(certificate),
  ['plan', certificate.planHash],
  ['predicted from documents', certificate.predicted ?? 'no prediction'],
  ...named('no raw volumes', certificate.noBlock),
  ...notRead(certificate),
  ['forcedetach', certificate.forcedetach],
];

const named = (name: string, value: string | undefined): Pairs =>
  value === undefined ? [] : [[name, value]];

/** Older certificates do not say. */
const notRead = ({ refused }: Pick<Certificate, 'refused'>): Pairs =>
  named('could not be read', refused && refusedWords(refused));

const nextWords = ({ was, said }: TrialFinding['next']): string =>
  said === undefined ? was : `${was}: ${said}`;

const nodes = (certificate: Pick<Certificate, 'nodes'>): Pairs =>
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
  return renderDocument({
    title: `${plan.nodes[0]} was cut off: ${findings.length} volumes`,
    screen: cutScreen(certificate),
    main: html`${leftCard(left)}
<div class="lead">
<div>${card('When', pairs(times(certificate)))}</div>
<div>${adviceCards(cutAdvice(certificate))}</div>
</div>
${card('What happened to each class', classes(findings))}
${remedies(modesSeen(findings))}
${card('Where', pairs(cutWhere(certificate)))}
${card('What was done', lines(cutPlanLines(plan)))}`,
  });
}

const classes = (findings: readonly CutFinding[]): Html =>
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
      // Older findings have no slots.
      const beside = Math.max(finding.overlapAcks, finding.overlapSlots ?? 0);
      return [
        ...[storageClass, outcome, why, modes.join(' or ') || '–', nextWords(next)],
        ...[String(beside), String(afterHealAcks), error ?? '–'],
      ];
    }),
  );

function times({ record }: CutCertificate): Pairs {
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

const cutWhere = (certificate: CutCertificate): Pairs => [
  ...certificate.classes.map(({ name, driver, parameters, storagePath }): [string, string] => [
    `class ${name}`,
    `${driver}; parameters: ${parameterWords(parameters)}${storagePath === undefined ? '' : `; storage path: ${storagePath}`}`,
  ]),
  ...nodes(certificate),
  ['plan', certificate.planHash],
  ...notRead(certificate),
  ['forcedetach', certificate.forcedetach],
];

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
${cardOf(
  'Rights that trials need, and that are missing',
  missingRights.length === 0 ? undefined : list(missingRights),
)}
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
