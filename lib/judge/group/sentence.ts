/** A group's verdict in a headline and a few short sentences. Stale reads are no loss, and are in the first one all the same. */
import { countInWords, secondsShown, toldInSeconds } from '../../core/index.ts';
import type { JudgedDatabase } from '../database.ts';
import { corruptionIn } from '../verdict/words.ts';
import type { VerdictWord } from '../verdict/verdict.ts';
import type { GroupVerdict } from './verdict.ts';

type UntitledGroup = Omit<GroupVerdict, 'sentence'>;

/** At most fifteen words. */
export const groupHeadlineOf = (verdict: UntitledGroup, database: JudgedDatabase): string =>
  headlines[verdict.verdict](verdict, database);

const headlines: Readonly<
  Record<VerdictWord, (verdict: UntitledGroup, database: JudgedDatabase) => string>
> = {
  inconclusive: () => 'The evidence is incomplete: this run proves nothing.',
  corrupt: ({ findings }, database) =>
    `The group’s data is corrupt: ${corruptionIn(findings, database)}.`,
  lost: ({ lost, acked }) =>
    `${countInWords(lost ?? 0)} of ${countInWords(acked)} acknowledged commits are lost.`,
  exposed: () => 'Two members acknowledged commits at the same time; no damage was found.',
  safe({ acked, victim, phases }) {
    const there = `All ${countInWords(acked)} commits are there`;
    if (victim.staleReads > 0)
      return `${there}, but the old primary answered ${countInWords(victim.staleReads)} stale reads.`;
    return phases.newPrimary === null
      ? `${there}.`
      : `${there}; another primary after ${secondsShown(phases.newPrimary)}.`;
  },
};

/** A few short sentences with numbers, stale reads first. */
export function groupSentence(verdict: UntitledGroup): string {
  const { availability, acked, lost, victim, scenario } = verdict;
  const { downtimeMs, rejoined } = availability;
  const fault = scenario.fault.kind.replaceAll('-', ' ');
  const reads =
    victim.readsAnswered === 0
      ? 'answered no reads'
      : `answered ${victim.staleReads === 0 ? 'none' : countInWords(victim.staleReads)} of ${countInWords(victim.readsAnswered)} reads with stale data${stalestText(verdict)}`;
  return [
    `The old primary ${reads}.`,
    lost === null
      ? `It is not known how many of ${countInWords(acked)} acknowledged commits are lost.`
      : `${countInWords(lost)} of ${countInWords(acked)} acknowledged commits are lost.`,
    downtimeMs === null
      ? `After the ${fault}, no outside client had a commit.`
      : `After the ${fault}, outside clients waited ${toldInSeconds(downtimeMs)} for their next commit.`,
    `The old primary acknowledged ${countInWords(victim.acked)} commits meanwhile and ${rejoined ? 'joined' : 'did not join'} the group again.`,
  ].join(' ');
}

/** `, up to 48.2 s behind`; nothing where no read was stale. */
export const stalestText = ({ victim: { stalestMs } }: UntitledGroup): string =>
  stalestMs === null ? '' : `, up to ${toldInSeconds(stalestMs)} behind`;
