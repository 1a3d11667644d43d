/** The first screen of a certificate, of trials or of a cut: the answer, its colour, and what follows from it. */
import { diskModeOf, type DiskMode, parseScenario } from '../../scenario/index.ts';
import { expectationOf } from '../../judge/index.ts';
import { proveItIsOff, type Advice, type FirstScreen } from '../../report/index.ts';
import type { Certificate, CutCertificate, PredictionReport } from '../certificate.ts';
import type { CutFinding, CutOutcome } from '../judge/cut.ts';
import { answerWord } from '../judge/measured.ts';
import { onlyPredicted, predictedWord } from '../texts.ts';

type Tone = 'safe' | 'exposed' | 'inconclusive';
const chipsOf = (...chips: readonly string[]): FirstScreen['chips'] =>
  chips.map((text) => ({ text }));
const playIt = 'See what it does to a database: docs/how-to/play-a-certificate.md.';
/** Nothing where it is not so. */
const where = <T>(isSo: boolean, ...lines: readonly T[]): readonly T[] => (isSo ? lines : []);

/** A node that Kubernetes lost still runs, and its pod is deleted by force: the case that storage must survive. */
function isSafeFor(disk: DiskMode): boolean {
  const scenario = parseScenario({
    ...{ name: 'certificate', question: 'Is it safe?', expected: ['safe'] },
    ...{ fault: 'network-partition', remedy: 'force-delete', disk },
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

export function certificateScreen(certificate: Certificate): FirstScreen {
  const { driver, answer, kubernetes, plan, beganAt, findings } = certificate;
  const tone = toneOf(answer.modes);
  const lost = findings.reduce((sum, { lostAcks = 0 }) => sum + lostAcks, 0);
  const volumes = `${plan.list.length} volumes`;
  return {
    top: `forcedetach probe · ${driver.name}`,
    ...{ tone, word: answerWord(answer), headline: headlineOf(certificate) },
    sentence: meaningOf[tone],
    ...(lost > 0 ? { caveat: `${lost} acknowledged writes are lost` } : {}),
    notes: [
      `Measured on healthy nodes: the probe deleted an attachment while its pod used the volume. Each volume was watched for ${plan.horizonMs / 1000} s.`,
    ],
    chips: chipsOf(`Kubernetes ${kubernetes}`, volumes, plan.volumeMode, `from ${beganAt}`),
  };
}

export function certificateAdvice({
  storageClass,
  driver,
  answer: { modes },
}: Certificate): Advice {
  const tone = toneOf(modes);
  const isOpen = tone === 'inconclusive';
  const unshown = modes.length > 1 ? `tell ${modes.join(' from ')}` : 'show a silent node';
  return {
    advice: [
      ...where(tone === 'exposed', proveItIsOff),
      ...where(
        isOpen,
        'Draw no conclusion. The notes say what is missing; repair it and run the probe again.',
      ),
      ...where(
        !isOpen,
        `Trials on healthy nodes do not ${unshown}. A cut does: docs/how-to/probe-cut.md.`,
        playIt,
      ),
    ],
    appliesIf: [
      `your storage class has the driver ${driver.name} and the parameters of ${storageClass.name} (below)`,
      'your driver has the same images',
    ],
  };
}

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

/** One class that two wrote outweighs any that were kept apart; one that is undecided, too. */
function cutTone(findings: readonly CutFinding[]): Tone {
  const tones = new Set(findings.map(({ outcome }) => cutTones[outcome]));
  if (tones.has('exposed')) return 'exposed';
  return tones.has('safe') && tones.size === 1 ? 'safe' : 'inconclusive';
}

export function cutScreen(certificate: CutCertificate): FirstScreen {
  const { plan, kubernetes, beganAt, findings, timers } = certificate;
  const tone = cutTone(findings);
  const exposed = findings.filter(({ outcome }) => cutTones[outcome] === 'exposed').length;
  const n = findings.length;
  const [word, headline] = {
    exposed: [
      'two wrote',
      `${exposed} of ${n} volumes: the cut-off node wrote beside its successor`,
    ],
    safe: ['kept apart', `The cut-off node wrote none of ${n} volumes beside its successor`],
    inconclusive: ['undecided', `${n} volumes under a cut: undecided`],
  }[tone] as [string, string];
  return {
    ...{ top: 'forcedetach probe --cut', tone, word, headline },
    sentence: `The node ${plan.nodes[0]} was cut off, and the remedy was ${plan.remedy}.`,
    notes: [
      'n = 1 for each class: one cut shows what can happen, not how often.',
      timers.length === 0
        ? 'The controller manager has its default timers, as far as the probe could read them.'
        : `The controller manager runs with ${timers.join(' ')}.`,
    ],
    chips: chipsOf(
      ...[`Kubernetes ${kubernetes}`, `cut by ${plan.way}`, plan.remedy, plan.volumeMode],
      `from ${beganAt}`,
    ),
  };
}

export function cutAdvice({ findings, classes }: CutCertificate): Advice {
  const named = classes.map(({ name, driver }) => `${name} (${driver})`).join(', ');
  return {
    advice: [
      ...where(cutTone(findings) === 'exposed', proveItIsOff),
      ...where(
        findings.some(({ outcome }) => cutTones[outcome] === 'inconclusive'),
        'Draw no conclusion from an undecided volume. Its row says what is missing.',
      ),
      playIt,
    ],
    appliesIf: [`you use one of these classes with the same driver version: ${named}`],
  };
}

export function predictionScreen(answer: PredictionReport): FirstScreen {
  const { driver, storageClass, kubernetes, prediction } = answer;
  return {
    top: `forcedetach probe · ${driver}`,
    ...{ tone: 'inconclusive', word: 'predicted' },
    headline: `A forced detach of ${storageClass}, predicted: ${predictedWord(answer)}`,
    sentence: onlyPredicted,
    notes: [],
    chips: chipsOf(`Kubernetes ${kubernetes}`, `sure: ${prediction.sure}`),
  };
}
