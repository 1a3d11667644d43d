/** What a run found, in at most fifteen words; the sentence has the rest. */
import { countInWords, medianOf, secondsInWords } from '../../core/index.ts';
import { isDirectory } from '../../scenario/index.ts';
import { recordedScenario } from '../../history/index.ts';
import type { Verdict, VerdictWord } from './verdict.ts';
import { ownSteps } from '../timeline/licence-links.ts';
import { wayBack } from './disk-findings.ts';

export type UnsaidVerdict = Omit<Verdict, 'sentence'>;

export const headlineOf = (verdict: UnsaidVerdict): string => told[verdict.verdict](verdict);

const told: Readonly<Record<VerdictWord, (verdict: UnsaidVerdict) => string>> = {
  inconclusive: () => 'The evidence is incomplete: this run proves nothing.',
  corrupt: (verdict) => `The database is corrupt: ${letIn(verdict)}.`,
  lost(verdict) {
    const { missing, lost: worst, acked } = verdict;
    const { count: lost, of } = missing.lost ?? { count: worst ?? 0, of: acked };
    // An unacknowledged commit that a client read is lost as well.
    if (lost === 0) return `Commits that a client read are gone: ${letIn(verdict)}.`;
    return `${countInWords(lost)} of ${countInWords(of)} acknowledged commits are lost: ${letIn(verdict)}.`;
  },
  exposed: (verdict) => `${capital(letIn(verdict))}; no damage was found${end(verdict)}.`,
  safe(verdict) {
    const there = `all ${countInWords(verdict.acked)} commits are there${end(verdict)}`;
    return `${capital(ownAnswer(verdict) ?? handover(verdict))}; ${there}.`;
  },
};

const letIn = (told: UnsaidVerdict): string =>
  ownAnswer(told) ??
  (told.exposure.ms > 0
    ? `two nodes could write for ${secondsInWords(told.exposure.ms / 1000)}`
    : handover(told));

function handover(told: UnsaidVerdict): string {
  const { phases, refusedMounts, horizonS } = told;
  if (phases.secondMount !== null) {
    const after = `after ${secondsInWords(phases.secondMount)}`;
    return locksKeepApart(told)
      ? `another node mounted ${after}, locked out`
      : `another node took over ${after}`;
  }
  if (refusedMounts.some(({ firstS }) => firstS < horizonS))
    return 'the successor’s mount was refused';
  return `no second mount in ${secondsInWords(horizonS)}`;
}

/** Whole data that no client can reach is half an answer. */
const end = ({ serving }: UnsaidVerdict): string => (serving.served ? '' : ', but nothing serves');

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** A clause; undefined where the run asked no more, or its records do not answer. */
const ownAnswer = (verdict: UnsaidVerdict): string | undefined =>
  [recreated, waitedAnew, refusedDetach, cameBack]
    .map((answer) => answer(verdict))
    .find((clause) => clause !== undefined);

/** When is a pod Ready that is deleted and comes back to its node? */
function recreated({ findings }: UnsaidVerdict): string | undefined {
  const times = findings
    .find(({ code }) => code === 'PODS_RECREATED')
    ?.evidence.map(Number.parseFloat);
  const median = medianOf(times ?? []);
  return median === undefined || times === undefined
    ? undefined
    : `Ready after ${secondsInWords(median)} at the median of ${times.length} deletions`;
}

/** Does the wait for a lost node hold where the controller manager dies in it? */
function waitedAnew({ licence, phases }: UnsaidVerdict): string | undefined {
  if (phases.secondMount === null || !licence.some(({ step }) => step === ownSteps.newManager))
    return undefined;
  return `the wait started again, second mount after ${secondsInWords(phases.secondMount)}`;
}

/** Does Kubernetes attach a second node where the storage refuses to detach the first? */
const refusedDetach = ({ licence, phases }: UnsaidVerdict): string | undefined =>
  phases.attached !== null && licence.some(({ step }) => step === ownSteps.uncertain)
    ? 'the refused detach did not keep a second node out'
    : undefined;

/** Does a node that gets its volume back use the mount that it had? */
function cameBack({ findings }: UnsaidVerdict): string | undefined {
  const came = (word: string): boolean => findings.some(({ code }) => code === word);
  if (came(wayBack.old)) return 'the first node used its old mount';
  return came(wayBack.anew) ? 'the first node mounted it again' : undefined;
}

/** On a shared directory with one lock table a second database waits, and its mount says nothing. */
export const locksKeepApart = ({ scenario }: UnsaidVerdict): boolean => {
  const {
    disk: { mode: disk, fileLocks },
  } = recordedScenario(scenario);
  return isDirectory(disk) && fileLocks === 'shared';
};
