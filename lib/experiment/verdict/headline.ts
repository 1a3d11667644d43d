/** What a run found, in at most fifteen words; the sentence has the rest. */
import { countInWords } from '../../counts.ts';
import { secondsInWords } from '../../durations.ts';
import { locksKeepApart, ownAnswer } from './own-answers.ts';
import type { Verdict, VerdictWord } from './verdict.ts';

type Told = Omit<Verdict, 'sentence'>;

export const headlineOf = (verdict: Told): string => told[verdict.verdict](verdict);

const told: Readonly<Record<VerdictWord, (verdict: Told) => string>> = {
  inconclusive: () => 'The evidence is not complete: this run proves nothing.',
  corrupt: (verdict) => `The database is corrupt: ${letIn(verdict)}.`,
  lost(verdict) {
    const { missing, lost: worst, acked } = verdict;
    const { count: lost, of } = missing.lost ?? { count: worst ?? 0, of: acked };
    // What nobody acknowledged is lost as well where somebody saw it.
    if (lost === 0) return `Commits that somebody saw are gone: ${letIn(verdict)}.`;
    return `${countInWords(lost)} of ${countInWords(of)} acknowledged commits are lost: ${letIn(verdict)}.`;
  },
  exposed: (verdict) => `${capital(letIn(verdict))}; no damage was found${end(verdict)}.`,
  safe(verdict) {
    const there = `all ${countInWords(verdict.acked)} commits are there${end(verdict)}`;
    return `${capital(ownAnswer(verdict) ?? handover(verdict))}; ${there}.`;
  },
};

const letIn = (told: Told): string =>
  ownAnswer(told) ??
  (told.exposure.ms > 0
    ? `two nodes could write for ${secondsInWords(told.exposure.ms / 1000)}`
    : handover(told));

function handover(told: Told): string {
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

/** Whole data that nobody can reach is half an answer. */
const end = ({ serving }: Told): string => (serving.served ? '' : ', but nothing serves');

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
