/** Sentences of the report that follow from the verdict: what it means, and what it does not. */
import { losesPower } from '../fault-kinds.ts';
import { recordedScenario, shortenedTimers, type Scenario } from '../experiment/scenario.ts';
import type { ServingWord } from '../experiment/serving-expectation.ts';
import type { Verdict, VerdictWord } from '../experiment/verdict.ts';

export const epochNames: Readonly<Record<keyof Verdict['loss'], string>> = {
  beforeFault: 'before the fault',
  victimBeforeHandover: 'by the victim, before the hand-over',
  victimAfterHandover: 'by the victim, after the hand-over',
  successor: 'by the successor',
};

/** The audited copies of the volume, by when they were taken. */
export const imageNames: Readonly<Record<Verdict['images'][number]['image'], string>> = {
  steady: 'before the fault',
  first: 'before the heal: what the fault did',
  second: 'after the heal',
};

/** What each word means, for readers of the report and of docs/verdicts.md. */
export const meanings: Readonly<Record<VerdictWord, string>> = {
  safe: 'no acknowledged commit was lost and no two nodes could write the volume',
  exposed: 'two nodes could write the volume; no damage was found',
  lost: 'acknowledged commits are gone',
  corrupt: 'a structure is broken, or the server cannot start',
  inconclusive: 'evidence is missing; this run proves nothing',
};

const timerNames: Readonly<Record<string, string>> = {
  graceMs: 'node-monitor-grace-period',
  tolerationMs: 'toleration of the unreachable taint',
  forceDetachAfterMs: 'wait before a forced detach',
};

/** An older verdict lacks fields that came later. */
export const scenarioOf = ({ scenario }: Verdict): Scenario => recordedScenario(scenario);

/** How far the numbers may be believed, in a few words. */
export function basisLabel(verdict: Verdict): string {
  if (verdict.basis === 'predicted') return 'prediction by the built-in model, not a measurement';
  if (verdict.basis === 'measured') return 'measured, stock timers';
  const scenario = scenarioOf(verdict);
  const named = shortenedTimers(scenario).map(
    (field) => `${timerNames[field]} ${Number(verdict.scenario[field]) / 1000} s`,
  );
  return `measured, changed timers: ${named.join(', ')}`;
}

export function expectation(verdict: Verdict): string {
  const expected = expectedWords(verdict.expected, verdict.serving.expected);
  return `${verdict.asExpected ? 'as expected' : 'NOT as expected'}: ${expected}`;
}

const servingText = { yes: ', and served', no: ', and nobody served', open: '' } as const;

/** `safe, and served`: both parts, where the second can fail. */
export const expectedWords = (words: readonly VerdictWord[], serving: ServingWord): string =>
  `${words.join(' or ')}${servingText[serving]}`;

export function advice(verdict: Verdict): string[] {
  const { remedy, trxCommit, fault, flushes, accessMode, terminationGraceS } = scenarioOf(verdict);
  if (verdict.verdict === 'inconclusive') {
    return [
      'Mend what is missing (see the findings) and run it again; draw no conclusion from it.',
    ];
  }
  if (verdict.verdict === 'safe') {
    return remedy === 'none' && !verdict.availability.recovered
      ? ['The price of this safety is the downtime: nothing took over until the node came back.']
      : ['Keep the settings that made it so (see the scenario), and test the ones you do not use.'];
  }
  if (losesPower(fault) && flushes === 'ignored') {
    return ['Use a disk that flushes when it is asked to: no setting of MySQL makes up for it.'];
  }
  if (losesPower(fault) && trxCommit !== 1) {
    return ['Set innodb_flush_log_at_trx_commit=1: MySQL then acknowledges only what is on disk.'];
  }
  const many = accessMode === 'ReadWriteMany';
  return [
    ...(many
      ? ['Declare the volume ReadWriteOnce: otherwise it is attached before it is detached.']
      : []),
    ...(terminationGraceS === 0
      ? ['Give the pod a grace period: with 0 seconds the eviction itself is a forced deletion.']
      : []),
    'Before you force-delete the pod or taint the node out of service, prove that the node is ' +
      'off (power, hypervisor) or cut its storage path.',
    'Use storage that fences: --disk fenced runs the same scenario with the old node cut off.',
    'kube-controller-manager --disable-force-detach-on-timeout (Kubernetes ≥ 1.30) keeps it from ' +
      'detaching a volume that is still in use; the out-of-service taint still does.',
  ];
}

/** What nobody may conclude from this run. `modelLimits`: what the model says it does not know. */
export function notTested(verdict: Verdict, modelLimits: readonly string[]): string[] {
  const { filesystem, powerLoss } = scenarioOf(verdict);
  const always = [
    'How often it happens: this is one run. It shows that an outcome is possible; ' +
      'a safe run is no proof of safety.',
    `Other databases, file systems (${filesystem} here) and disks than the one named above.`,
  ];
  if (verdict.basis === 'predicted') {
    return [
      'Anything real: the model knows the order and the timers of the controllers, not disks, kernels or MySQL.',
      ...modelLimits.map((limit) => `The model: ${limit}`),
      ...always,
    ];
  }
  return [
    ...always,
    powerLoss === 'keeps'
      ? 'Power loss of the storage itself: a crash here loses the node’s cache, and the disk keeps what it was given.'
      : 'A real drive’s cache: what is lost, reordered or torn here was drawn by the seed.',
    'Clocks that disagree: all nodes share this machine’s kernel and clock.',
  ];
}
