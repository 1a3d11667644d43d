/** The first screen of a run on a group: stale reads are no loss, and stand in its first sentence all the same. */
import { groupHeadlineOf, type VerdictWord, type GroupVerdict } from '../../judge/index.ts';
import { countInWords, secondsShown } from '../../core/index.ts';
import type { Database } from '../../run/index.ts';
import { drawNoConclusion, type Advice, type Fact, type FirstScreen } from '../first-screen.ts';
import { lostOf } from '../loss-words.ts';
import { onceInWords } from '../wording.ts';
import { faultNamed, type FaultKind } from '../../scenario/index.ts';

export function groupScreen(verdict: GroupVerdict, database: Database): FirstScreen {
  const { basis, asExpected, expected, runId, sentence, victim } = verdict;
  return {
    top: `forcedetach · group replication · run ${runId}`,
    tone: verdict.verdict,
    ...(victim.staleReads > 0
      ? {
          caveat: `${countInWords(victim.staleReads)} of ${countInWords(victim.readsAnswered)} reads stale`,
        }
      : {}),
    headline: groupHeadlineOf(verdict, database),
    sentence,
    notes: [onceInWords(verdict)],
    chips: [
      { text: `${basis}, ${basis === 'measured' ? 'stock' : 'changed'} timers of Kubernetes` },
      {
        text: `${asExpected ? 'as expected' : 'NOT as expected'}: ${expected.join(' or ')}`,
        alarm: !asExpected,
      },
    ],
  };
}

const secondsOrNever = (s: number | null): string => (s === null ? 'never' : secondsShown(s));

export function groupFacts({ acked, lost, availability, phases, victim }: GroupVerdict): Fact[] {
  const { downtimeMs, recovered, rejoined } = availability;
  const stale = `${countInWords(victim.staleReads)} of ${countInWords(victim.readsAnswered)}`;
  const fact = (name: string, value: string, more: string, tone?: VerdictWord | false): Fact => ({
    ...{ name, value, more },
    ...(tone ? { tone } : {}),
  });
  return [
    fact(
      'Acknowledged commits',
      lostOf(lost, acked),
      lost === null ? 'the ledger was not read' : 'in the group’s ledger',
      (lost ?? 0) > 0 && 'lost',
    ),
    fact(
      'Outside clients waited',
      downtimeMs === null ? 'unknown' : secondsShown(downtimeMs / 1000),
      recovered ? 'then commits came back' : 'no commits came back in time',
    ),
    fact('Another primary', secondsOrNever(phases.newPrimary), 'after the fault'),
    fact(
      'Stale reads at the old primary',
      stale,
      'lacked a commit that was acknowledged before the read began',
      victim.staleReads > 0 && 'exposed',
    ),
    rejoined
      ? fact(
          'The old primary',
          'joined again',
          `${secondsOrNever(phases.rejoined)} after the fault`,
        )
      : fact('The old primary', 'did not join again', 'by the end of the run'),
  ];
}

/** The timeout is named where the committed runs differ by it alone (docs/results/group-replication.md). */
export function groupAdvice(verdict: GroupVerdict): Advice {
  const { victim, settings, scenario, availability, verdict: word } = verdict;
  if (word === 'inconclusive') return drawNoConclusion;
  const isStale = victim.staleReads > 0;
  const staysStale = isStale && settings['majorityTimeoutS'] === 0;
  const timeout = 'group_replication_unreachable_majority_timeout';
  const fault = faultNamed(scenario['fault'] as FaultKind).words;
  const lines = (...all: readonly (string | false)[]): string[] =>
    all.filter((line) => line !== false);
  return {
    advice: lines(
      word === 'safe'
        ? 'It was safe because a primary that sees no majority acknowledges no commit.'
        : 'Stop the clients, and compare the members before you let any of them serve again.',
      isStale &&
        'Send reads where a majority of the members names the primary, as a router that asks them all does.',
      staysStale &&
        `Set ${timeout}: its default 0 waits for ever. With 10 s the measured run had no stale read (n = 1).`,
      !availability.rejoined &&
        'Read the error log of the old primary, then start group replication on it again.',
    ),
    appliesIf: lines(
      'the database is a MySQL group of three members in single-primary mode',
      fault.replace('old node', 'node of the primary'),
      isStale && 'clients can still read at the old primary',
      staysStale && `${timeout} is 0 (its default)`,
    ),
    appliesNote:
      'The kind of storage does not decide here: each member has its own volume, and no volume moves.',
  };
}
