/** The first screen of a certificate, of trials or of a cut: the answer, its colour, and what follows from it. */
import { diskModeOf, type DiskMode } from '../../disk-modes/index.ts';
import { expectationOf } from '../../experiment/expectation/expectations.ts';
import { parseScenario } from '../../experiment/scenario.ts';
import type { VerdictWord } from '../../experiment/verdict/verdict.ts';
import { proveItIsOff } from '../../report/conditions.ts';
import type { Advice, FirstScreen } from '../../report/first-screen.ts';
import type { Certificate, CutCertificate, PredictionReport } from '../certificate.ts';
import type { CutFinding } from '../judge/cut.ts';
import { answerWord } from '../judge/measured.ts';
import { onlyPredicted } from '../texts.ts';

/** A node that Kubernetes lost still runs, and its pod is deleted by force: the case that storage must survive. */
function isSafeFor(disk: DiskMode): boolean {
  const scenario = parseScenario({
    ...{ name: 'certificate', question: 'Is it safe?', expected: ['safe'] },
    ...{ fault: 'network-partition', remedy: 'force-delete', disk },
  });
  return expectationOf(scenario).verdicts.every((word) => word === 'safe');
}

const toneOf = (modes: readonly DiskMode[]): VerdictWord =>
  modes.length === 0 ? 'inconclusive' : modes.every(isSafeFor) ? 'safe' : 'exposed';

const meaningOf: Readonly<Record<'safe' | 'exposed' | 'inconclusive', string>> = {
  safe: 'After a forced detach two nodes are not expected to write such a volume.',
  exposed: 'After a forced detach two nodes can write such a volume, if the old one still runs.',
  inconclusive: 'The trials leave open whether two nodes can write such a volume.',
};
const meaning = (tone: VerdictWord): string =>
  tone === 'safe' || tone === 'exposed' ? meaningOf[tone] : meaningOf.inconclusive;

export function certificateScreen(certificate: Certificate): FirstScreen {
  const { driver, storageClass, answer, kubernetes, plan, beganAt } = certificate;
  const tone = toneOf(answer.modes);
  const word = answerWord(answer);
  const [only, ...others] = answer.modes;
  const headline =
    only === undefined
      ? `The trials leave open how ${storageClass.name} answers a forced detach`
      : others.length > 0
        ? `${storageClass.name} answers a forced detach as ${word} does`
        : `${storageClass.name} ${diskModeOf[only].does}`;
  const lost = certificate.findings.reduce((sum, { lostAcks = 0 }) => sum + lostAcks, 0);
  return {
    top: `forcedetach probe · ${driver.name}`,
    ...{ tone, word, headline, sentence: meaning(tone) },
    ...(lost > 0 ? { caveat: `${lost} acknowledged writes are lost` } : {}),
    notes: [
      `Measured on healthy nodes: the probe deleted an attachment while its pod used the volume. Each volume was watched for ${plan.horizonMs / 1000} s.`,
    ],
    chips: [
      `Kubernetes ${kubernetes}`,
      `${plan.list.length} volumes`,
      plan.volumeMode,
      `from ${beganAt}`,
    ].map((text) => ({ text })),
  };
}

export function certificateAdvice({ storageClass, driver, answer }: Certificate): Advice {
  const tone = toneOf(answer.modes);
  return {
    advice: [
      ...(tone === 'exposed'
        ? [proveItIsOff]
        : tone === 'inconclusive'
          ? [
              'Draw no conclusion. The notes say what is missing; repair it and run the probe again.',
            ]
          : []),
      ...(answer.modes.length > 1
        ? [
            `Trials on healthy nodes do not tell ${answer.modes.join(' from ')}. A cut does: docs/how-to/probe-cut.md.`,
          ]
        : tone === 'inconclusive'
          ? []
          : [
              'Trials on healthy nodes do not show a silent node. A cut does: docs/how-to/probe-cut.md.',
            ]),
      ...(tone === 'inconclusive'
        ? []
        : ['See what it does to a database: docs/how-to/play-a-certificate.md.']),
    ],
    appliesIf: [
      `your storage class has the driver ${driver.name} and the parameters of ${storageClass.name} (below)`,
      'your driver has the same images',
    ],
  };
}

/** Worst first. */
const cutTones = {
  exposed: ['both-wrote', 'wrote-after-heal', 'late-cut'],
  inconclusive: ['undecided', 'path-cut'],
  safe: ['cut-at-detach', 'cut-near-detach', 'cut-before-next', 'next-refused', 'not-detached'],
} as const satisfies Readonly<Partial<Record<VerdictWord, readonly CutFinding['outcome'][]>>>;

const toneOfCut = ({ outcome }: CutFinding): keyof typeof cutTones =>
  (Object.keys(cutTones) as (keyof typeof cutTones)[]).find((tone) =>
    (cutTones[tone] as readonly string[]).includes(outcome),
  ) ?? 'inconclusive';

export function cutScreen(certificate: CutCertificate): FirstScreen {
  const { plan, kubernetes, beganAt, findings, timers } = certificate;
  const { tone, exposed } = cutCount(findings);
  return {
    top: 'forcedetach probe --cut',
    tone,
    word: exposed > 0 ? 'two wrote' : tone === 'safe' ? 'kept apart' : 'undecided',
    headline:
      exposed > 0
        ? `${exposed} of ${findings.length} volumes: the cut-off node wrote beside its successor`
        : tone === 'safe'
          ? `The cut-off node wrote none of ${findings.length} volumes beside its successor`
          : `${findings.length} volumes under a cut: undecided`,
    sentence: `The node ${plan.nodes[0]} was cut off, and the remedy was ${plan.remedy}.`,
    notes: [
      'n = 1 for each class: one cut shows what can happen, not how often.',
      timers.length === 0
        ? 'The controller manager has its default timers, as far as the probe could read them.'
        : `The controller manager runs with ${timers.join(' ')}.`,
    ],
    chips: [
      `Kubernetes ${kubernetes}`,
      `cut by ${plan.way}`,
      plan.remedy,
      plan.volumeMode,
      `from ${beganAt}`,
    ].map((text) => ({ text })),
  };
}

/** One class that two wrote outweighs any that were kept apart; one that is undecided, too. */
function cutCount(findings: readonly CutFinding[]): {
  readonly tone: VerdictWord;
  readonly exposed: number;
} {
  const tones = findings.map(toneOfCut);
  const exposed = tones.filter((tone) => tone === 'exposed').length;
  const isSafe = tones.length > 0 && tones.every((tone) => tone === 'safe');
  return { exposed, tone: exposed > 0 ? 'exposed' : isSafe ? 'safe' : 'inconclusive' };
}

export function cutAdvice({ findings, classes }: CutCertificate): Advice {
  const { tone } = cutCount(findings);
  const named = classes.map(({ name, driver }) => `${name} (${driver})`).join(', ');
  return {
    advice: [
      ...(tone === 'exposed' ? [proveItIsOff] : []),
      ...(findings.some((finding) => toneOfCut(finding) === 'inconclusive')
        ? ['Draw no conclusion from an undecided volume. Its row says what is missing.']
        : []),
      'See what it does to a database: docs/how-to/play-a-certificate.md.',
    ],
    appliesIf: [`you use one of these classes with the same driver version: ${named}`],
  };
}

export const predictedWord = ({ prediction: { mode } }: PredictionReport): string =>
  mode ?? 'no document settles it';

export function predictionScreen(answer: PredictionReport): FirstScreen {
  const { driver, storageClass, kubernetes, prediction } = answer;
  return {
    top: `forcedetach probe · ${driver}`,
    ...{ tone: 'inconclusive', word: 'predicted' },
    headline: `A forced detach of ${storageClass}, predicted: ${predictedWord(answer)}`,
    sentence: onlyPredicted,
    notes: [],
    chips: [{ text: `Kubernetes ${kubernetes}` }, { text: `sure: ${prediction.sure}` }],
  };
}
