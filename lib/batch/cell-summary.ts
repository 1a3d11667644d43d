/** What the runs of one cell came to, counted by independent fault events. */
import { medianOf, wilson } from '../core/index.ts';
import { verdictWords } from '../scenario/index.ts';
import { judgeExpectation, servingExpectationOf, type VerdictWord } from '../judge/index.ts';
import type { BatchCell, Rate } from './batch.ts';
import type { Cell } from './cells.ts';
import type { BatchTrial } from './batch-plan.ts';
import type { Attempt, RunOutcome } from './results.ts';
import { gradeOf, worstWord } from './expectations/severity.ts';

/** One fault event: several volumes may have been under it. */
interface Event {
  readonly verdict: VerdictWord;
  readonly silent: boolean;
}

export function summarizeCell(
  cell: Cell,
  trials: readonly BatchTrial[],
  all: readonly Attempt[],
): BatchCell {
  const own = all.filter(({ trial }) => trials.some(({ id }) => id === trial));
  const last = trials
    .map(({ id }) => own.findLast((attempt) => attempt.trial === id))
    .filter((attempt) => attempt !== undefined);
  const events = eventsOf(last);
  const concluded = events.filter(({ verdict }) => verdict !== 'inconclusive');
  const outcomes = last.map(({ outcome }) => outcome).filter((outcome) => isConclusive(outcome));
  const { expected, counted } = cell.scenario;
  const rate = (hits: readonly Event[]): Rate => ({
    count: hits.length,
    of: concluded.length,
    ...wilson(hits.length, concluded.length),
  });
  return {
    id: cell.id,
    label: cell.label,
    place: { ...cell.place },
    verdict: worstWord(events.map(({ verdict }) => verdict)),
    expected: [...expected],
    ...(counted === undefined ? {} : { counted }),
    expectedServing: servingExpectationOf(cell.scenario).expected,
    because: cell.because,
    ...judged(cell, outcomes),
    verdicts: countWords(events),
    damaged: rate(concluded.filter(({ verdict }) => gradeOf(verdict) === 'damaged')),
    unsafe: rate(concluded.filter(({ verdict }) => gradeOf(verdict) !== 'safe')),
    silent: concluded.filter(({ silent }) => silent).length,
    median: {
      lost: median(outcomes.map(({ lost }) => lost)),
      unreadableBeforeHeal: medianMissing(outcomes, 'unreadableBeforeHeal'),
      gone: medianMissing(outcomes, 'lost'),
      missingAfterHeal: medianMissing(outcomes, 'afterHeal'),
      acked: median(outcomes.map(({ acked }) => acked)),
      downtimeS: seconds(median(outcomes.map(({ downtimeMs }) => downtimeMs))),
      exposureS: seconds(median(outcomes.map(({ exposureMs }) => exposureMs))),
      secondMountS: median(outcomes.map(({ secondMountS }) => secondMountS)),
    },
    runs: last.map(({ folder, outcome, error }) => ({
      folder,
      verdict: outcome?.verdict ?? null,
      sentence: outcome?.sentence ?? error ?? '',
    })),
    discarded: own.length - last.length,
  };
}

/** One that was not expected decides; where none was, one that is open. */
function judged(
  { scenario }: Cell,
  outcomes: readonly RunOutcome[],
): Pick<BatchCell, 'asExpected' | 'open'> {
  const all = outcomes.map((outcome) => judgeExpectation(scenario, outcome));
  if (all.some(({ asExpected, open }) => !asExpected && open !== true))
    return { asExpected: false };
  if (all.some(({ open }) => open === true)) return { asExpected: null, open: true };
  return { asExpected: all.length === 0 ? null : true };
}

const isConclusive = (outcome: RunOutcome | undefined): outcome is RunOutcome =>
  outcome !== undefined && outcome.verdict !== 'inconclusive';

function eventsOf(attempts: readonly Attempt[]): Event[] {
  const byEvent = Map.groupBy(attempts, ({ event }) => event);
  return [...byEvent.values()].map((volumes) => {
    const outcomes = volumes.map(({ outcome }) => outcome);
    return {
      verdict: worstWord(outcomes.map((outcome) => outcome?.verdict ?? 'inconclusive')),
      silent: outcomes.some((outcome) => outcome?.noticed === 'silent'),
    };
  });
}

const countWords = (events: readonly Event[]): Record<VerdictWord, number> =>
  Object.fromEntries(
    verdictWords.map((word) => [word, events.filter(({ verdict }) => verdict === word).length]),
  ) as Record<VerdictWord, number>;

const medianMissing = (
  outcomes: readonly RunOutcome[],
  number: keyof NonNullable<RunOutcome['missing']>,
): number | null => median(outcomes.map(({ missing }) => missing?.[number]?.count ?? null));

/** Median of those that are known. */
const median = (values: readonly (number | null)[]): number | null =>
  medianOf(values.filter((value) => value !== null)) ?? null;

const seconds = (ms: number | null): number | null => (ms === null ? null : Math.round(ms) / 1000);
