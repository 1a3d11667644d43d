/**
 * A race is expected to come to what it came to before. An expectation can fail, or it is none: what
 * was counted too rarely, or may come to anything, is open.
 */
import { safetyLevels, type Counts, type Scenario } from '../../scenario/index.ts';
import { expectationOf } from './expectations.ts';
import type { Safety } from '../verdict/verdict.ts';

/** Fewest events: a verdict never seen in them may still come in a third (Wilson, 0 of 8: 32 %). */
export const leastEvents = 8;

export const eventsIn = (counts: Counts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** What a race came to, each word and how often, the worst first. */
export const wordsWorstFirst = (
  counts: Counts,
): { readonly word: Safety; readonly count: number }[] =>
  safetyLevels.toReversed().flatMap((word) => {
    const count = counts[word];
    return count === undefined ? [] : [{ word, count }];
  });

/** `counts`: of a race, all fault events of this scenario before; they are not asked for otherwise. */
export function expectedOf(
  scenario: Scenario,
  counts: (scenario: Scenario) => Counts,
): Pick<Scenario, 'expected' | 'counted'> {
  const { verdicts, isRace } = expectationOf(scenario);
  if (!isRace) return { expected: [...verdicts] };
  const counted = counts(scenario);
  const seen = safetyLevels.filter((level) => counted[level] !== undefined);
  return { expected: eventsIn(counted) < leastEvents ? [...verdicts] : seen, counted };
}

/** Whether nothing that reasoning allows could be a surprise. */
export function isOpen({ expected, counted }: Pick<Scenario, 'expected' | 'counted'>): boolean {
  if (safetyLevels.every((level) => expected.includes(level))) return true;
  return counted !== undefined && eventsIn(counted) < leastEvents;
}
