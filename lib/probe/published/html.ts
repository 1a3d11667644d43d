/** What the probe answered, as pages that fetch nothing: of trials, of a cut, or predicted from documents. */
import { dirname, join } from 'node:path';
import { html } from 'hono/html';
import { diskModeOf, type DiskMode, parseScenario } from '../../scenario/index.ts';
import { toldInSeconds, writeOutput } from '../../core/index.ts';
import { didInWords, hasRuns, reasonedInWords } from '../../batch/index.ts';
import { expectationOf } from '../../judge/index.ts';
import {
  renderDocument,
  adviceCards,
  type Advice,
  card,
  type FirstScreen,
  list,
  numbers,
  pairs,
  proveItIsOff,
  table,
  texts,
  wideTable,
  type Html,
} from '../../report/index.ts';
import {
  type Certificate,
  type CutCertificate,
  type PredictionReport,
  certificateText,
  notOne,
  parsed,
  readCertificate,
  readCutCertificate,
} from '../certificate.ts';
import { type CutFinding, type CutOutcome, classifyAll, modesSeen } from '../judge/cut.ts';
import type { DetachOutcome } from '../judge/detach.ts';
import type { ForceDeleted } from '../judge/forced.ts';
import type { Figure, NextFinding } from '../judge/heard.ts';
import { answerWord, judgeTrials } from '../judge/measured.ts';
import { type DetachVariant, cutPlanLines, detachVariants, planLines } from '../plan.ts';
import {
  countWords,
  forcedMeaning,
  forcedTitle,
  noRuns,
  onceUnderCut,
  onlyPredicted,
  parameterWords,
  predictedWord,
  refusedWords,
  remediesTitle,
  remedyRows,
  whoseRuns,
} from '../texts.ts';
import type { DriverFile } from './driver-file.ts';

type Tone = 'safe' | 'exposed' | 'inconclusive';
type Pairs = readonly (readonly [string, string])[];

const lines = (all: readonly string[]): Html => html`<pre>${all.join('\n')}</pre>`;
/** Nothing where there is nothing to show. */
const cardOf = (title: string, content: Html | undefined): Html | string =>
  content === undefined ? '' : card(title, content);
const listOf = (all: readonly string[]): Html | undefined =>
  all.length === 0 ? undefined : list(all);
const named = (name: string, value: string | undefined): Pairs =>
  value === undefined ? [] : [[name, value]];
const chipsOf = (...chips: readonly string[]): FirstScreen['chips'] =>
  chips.map((text) => ({ text }));
const playIt = 'See what it does to a database: docs/how-to/play-a-certificate.md.';
/** Nothing where it is not so. */
const where = (isSo: boolean, ...all: readonly string[]): readonly string[] => (isSo ? all : []);

interface Measured {
  readonly title: string;
  readonly screen: FirstScreen;
  readonly shown: Html;
  readonly advice: Advice;
  readonly first: Html | string;
  readonly modes: readonly DiskMode[];
  readonly last?: Html;
  readonly where: Pairs;
  readonly more?: Pairs;
  readonly plan: readonly string[];
}

const measuredPage = (
  { left, nodes, planHash, refused, forcedetach }: Certificate | CutCertificate,
  { title, screen, shown, advice, first, modes, last = html``, plan, ...of }: Measured,
): Promise<string> =>
  renderDocument({
    ...{ title, screen },
    main: html`${cardOf('Still there', left === undefined ? left : html`<p class="alarm-text">${left}</p>`)}
<div class="lead">
<div>${shown}</div>
<div>${adviceCards(advice)}</div>
</div>
${first}
${remedies(modes)}
${last}
${card(
  'Where',
  pairs([
    ...of.where,
    ...nodes.map(
      ({ name, kubelet, kernel, osImage, runtime }) =>
        [`node ${name}`, `kubelet ${kubelet}, kernel ${kernel}, ${osImage}, ${runtime}`] as const,
    ),
    ...[['plan', planHash] as const, ...(of.more ?? [])],
    // Older certificates do not say.
    ...named('could not be read', refused && refusedWords(refused)),
    ['forcedetach', forcedetach],
  ]),
)}
${card('What was done', lines(plan))}`,
  });

export function renderCertificateHtml(certificate: Certificate): Promise<string> {
  const { answer, storageClass, driver, forceDeleted, findings, plan, kubernetes } = certificate;
  const { modes } = answer;
  const word = answerWord(answer);
  const tone = toneOf(modes);
  const lost = findings.reduce((sum, { lostAcks = 0 }) => sum + lostAcks, 0);
  return measuredPage(certificate, {
    title: `${storageClass.name}: ${word}`,
    screen: {
      top: `forcedetach probe · ${driver.name}`,
      ...{ tone, word, headline: headlineOf(certificate), sentence: meaningOf[tone] },
      ...(lost > 0 ? { caveat: `${lost} acknowledged writes are lost` } : {}),
      notes: [
        `Measured on healthy nodes: the probe deleted an attachment while its pod used the volume. Each volume was watched for ${plan.horizonMs / 1000} s.`,
      ],
      chips: chipsOf(
        ...[`Kubernetes ${kubernetes}`, `${plan.list.length} volumes`, plan.volumeMode],
        `from ${certificate.beganAt}`,
      ),
    },
    shown: html`${card(
      'What the trials showed',
      pairs([
        ...detachVariants.map(
          (variant) =>
            [variantWords[variant], countsInWords(answer.counts[variant], outcomeWords)] as const,
        ),
        ['The next pod', countsInWords(answer.next, nextPodWords)],
      ]),
    )}
${cardOf('Notes', listOf(answer.notes))}`,
    advice: {
      advice: [
        ...where(tone === 'exposed', proveItIsOff),
        tone === 'inconclusive'
          ? 'Draw no conclusion. The notes say what is missing; repair it and run the probe again.'
          : `Trials on healthy nodes do not ${modes.length > 1 ? `tell ${modes.join(' from ')}` : 'show a silent node'}. A cut does: docs/how-to/probe-cut.md.`,
        ...where(tone !== 'inconclusive', playIt),
      ],
      appliesIf: [
        `your storage class has the driver ${driver.name} and the parameters of ${storageClass.name} (below)`,
        'your driver has the same images',
      ],
    },
    first: card('How long it took', figures(answer.figures)),
    modes,
    last: html`${card(
      'Every trial',
      wideTable(
        'Every trial',
        ['Trial', 'Outcome', ...texts('Why'), 'Error at the writer', ...texts('Next pod')],
        findings.map((trial) => [
          ...[trial.name, trial.outcome, trial.why, trial.error ?? '–', nextWords(trial.next)],
        ]),
      ),
    )}
${cardOf(forcedTitle, forceDeleted && deletedByForce(forceDeleted))}`,
    where: [
      ['driver', driver.name],
      ['images', driver.images.join(', ') || 'not readable'],
      ['class', storageClass.name],
      ['parameters', parameterWords(storageClass.parameters)],
    ],
    more: [
      ['predicted from documents', certificate.predicted ?? 'no prediction'],
      ...named('no raw volumes', certificate.noBlock),
    ],
    plan: planLines(plan),
  });
}

/** A node that Kubernetes lost still runs, and its pod is deleted by force: the case that storage must survive. */
function isSafeFor(disk: DiskMode): boolean {
  const scenario = parseScenario({
    ...{ name: 'certificate', question: 'Is it safe?', expected: ['safe'] },
    fault: { kind: 'network-partition' },
    remedy: { kind: 'force-delete' },
    disk: { mode: disk },
  });
  return expectationOf(scenario).verdicts.every((word) => word === 'safe');
}

const toneOf = (modes: readonly DiskMode[]): Tone =>
  modes.length === 0 ? 'inconclusive' : modes.every(isSafeFor) ? 'safe' : 'exposed';

const meaningOf: Readonly<Record<Tone, string>> = {
  safe: 'After a forced detach two nodes are not expected to write such a volume.',
  exposed: 'After a forced detach two nodes can write such a volume, if the old one still runs.',
  inconclusive: 'The trials leave open whether two nodes can write such a volume.',
};

function headlineOf({ storageClass: { name }, answer }: Certificate): string {
  const [only, ...others] = answer.modes;
  if (only === undefined) return `The trials leave open how ${name} answers a forced detach`;
  if (others.length === 0) return `${name} ${diskModeOf[only].does}`;
  return `${name} answers a forced detach as ${answerWord(answer)} does`;
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
${listOf(notes) ?? ''}
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

const nextWords = ({ was, said }: NextFinding): string =>
  said === undefined ? was : `${was}: ${said}`;

const cutTones: Readonly<Record<CutOutcome, Tone>> = {
  'both-wrote': 'exposed',
  'wrote-after-heal': 'exposed',
  'late-cut': 'exposed',
  undecided: 'inconclusive',
  'path-cut': 'inconclusive',
  'cut-at-detach': 'safe',
  'cut-near-detach': 'safe',
  'cut-before-next': 'safe',
  'next-refused': 'safe',
  'not-detached': 'safe',
};

export function renderCutHtml(certificate: CutCertificate): Promise<string> {
  const { findings, plan, classes, record, timers } = certificate;
  const tones = findings.map(({ outcome }) => cutTones[outcome]);
  // One class that two wrote outweighs any that were kept apart; one that is undecided, too.
  const tone =
    (['exposed', 'inconclusive'] as const).find((each) => tones.includes(each)) ?? 'safe';
  const [n, exposed] = [tones.length, tones.filter((each) => each === 'exposed').length];
  const [word, headline] = {
    exposed: [
      'two wrote',
      `${exposed} of ${n} volumes: the cut-off node wrote beside its successor`,
    ],
    safe: ['kept apart', `The cut-off node wrote none of ${n} volumes beside its successor`],
    inconclusive: ['undecided', `${n} volumes under a cut: undecided`],
  }[tone] as [string, string];
  const drivers = classes.map(({ name, driver }) => `${name} (${driver})`).join(', ');
  const since = (atMs: number | undefined): string =>
    atMs === undefined || record.cutMs === undefined
      ? 'not observed'
      : `${toldInSeconds(atMs - record.cutMs)} after the cut`;
  return measuredPage(certificate, {
    title: `${plan.nodes[0]} was cut off: ${n} volumes`,
    screen: {
      ...{ top: 'forcedetach probe --cut', tone, word, headline },
      sentence: `The node ${plan.nodes[0]} was cut off, and the remedy was ${plan.remedy}.`,
      notes: [
        onceUnderCut,
        timers.length === 0
          ? 'The controller manager has its default timers, as far as the probe could read them.'
          : `The controller manager runs with ${timers.join(' ')}.`,
      ],
      chips: chipsOf(
        ...[`Kubernetes ${certificate.kubernetes}`, `cut by ${plan.way}`, plan.remedy],
        ...[plan.volumeMode, `from ${certificate.beganAt}`],
      ),
    },
    shown: card(
      'When',
      pairs([
        [
          'rehearsed',
          record.rehearsedMs === undefined ? 'no' : `away for ${toldInSeconds(record.rehearsedMs)}`,
        ],
        ['not Ready, by the API', since(record.notReadyMs)],
        ['remedy', since(record.remedyMs)],
        ['reachable again, from the second node', since(record.healedMs)],
        ['Ready again, by the API', since(record.readyAgainMs)],
        ['nothing of it left, as the host reports', record.checked ? 'yes' : 'not observed'],
      ]),
    ),
    advice: {
      advice: [
        ...where(tone === 'exposed', proveItIsOff),
        ...where(
          tones.includes('inconclusive'),
          'Draw no conclusion from an undecided volume. Its row says what is missing.',
        ),
        playIt,
      ],
      appliesIf: [`you use one of these classes with the same driver version: ${drivers}`],
    },
    first: card(
      'What happened to each class',
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
        findings.map(underCut),
      ),
    ),
    modes: modesSeen(findings),
    where: classes.map(({ name, driver, parameters, storagePath }) => [
      `class ${name}`,
      `${driver}; parameters: ${parameterWords(parameters)}${storagePath === undefined ? '' : `; storage path: ${storagePath}`}`,
    ]),
    plan: cutPlanLines(plan),
  });
}

const underCut = (finding: CutFinding): string[] => [
  ...[finding.storageClass, finding.outcome, finding.why, finding.modes.join(' or ') || '–'],
  nextWords(finding.next),
  String(Math.max(finding.overlapAcks, finding.overlapSlots)),
  ...[String(finding.afterHealAcks), finding.error ?? '–'],
];

/** The same prediction gives the same bytes. Nothing was measured. */
export function renderPredictionHtml(answer: PredictionReport): Promise<string> {
  const { storageClass, prediction, plan, refusal, missingRights } = answer;
  return renderDocument({
    title: `${storageClass}, predicted: ${predictedWord(answer)}`,
    screen: {
      top: `forcedetach probe · ${answer.driver}`,
      ...{ tone: 'inconclusive', word: 'predicted' },
      headline: `A forced detach of ${storageClass}, predicted: ${predictedWord(answer)}`,
      ...{ sentence: onlyPredicted, notes: [] },
      chips: chipsOf(`Kubernetes ${answer.kubernetes}`, `sure: ${prediction.sure}`),
    },
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
${cardOf('Rights that trials need, and that are missing', listOf(missingRights))}
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

/**
 * Pages of certificates that were written before: of one, or of all that a driver's file was made from. Writes each
 * beside its certificate, and returns their paths. Judges again: the rules of today, the records of then. Throws
 * UsageError `NO_CERTIFICATE`, and as `readInput` does.
 */
export async function writeCertificatePages(path: string): Promise<string[]> {
  const text = certificateText(path);
  const { kind } = (parsed(text) ?? {}) as { readonly kind?: unknown };
  if (kind === 'driver-certificates') {
    // Older files have no cuts.
    const { classes, cuts = [] } = parsed(text) as Omit<DriverFile, 'cuts'> & Partial<DriverFile>;
    const records = new Set([...classes, ...cuts].map((row) => join(dirname(path), row.records)));
    return (await Promise.all([...records].map(writeCertificatePages))).flat();
  }
  const page = path.replace(/\.json(\.zst)?$/, '.html');
  if (kind === 'cut-certificate') {
    const cut = readCutCertificate(text);
    const findings = classifyAll(cut.record, cut.plan);
    writeOutput(page, await renderCutHtml({ ...cut, findings }));
  } else if (kind === 'detach-certificate') {
    const { forceDeleted: _, ...whole } = readCertificate(text);
    const judged = judgeTrials(whole.trials, whole.plan);
    writeOutput(page, await renderCertificateHtml({ ...whole, ...judged }));
  } else throw notOne(`${path} is no certificate`);
  return [page];
}
