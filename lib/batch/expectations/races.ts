/** Distributions: what independent fault events of one scenario came to. */
import { expectedOf, expectationOf } from '../../judge/index.ts';
import { safetyLevels, type Counts, type Scenario } from '../../scenario/index.ts';
import { worstWord } from './severity.ts';
import { eventOf, readRuns, scenarioOfLine, type RunLine } from './runs.ts';
import { raceKey } from './scenario-key.ts';

/** Counts of each race by `raceKey`; a run without a verdict proves nothing. */
export function racesIn(lines: readonly RunLine[]): ReadonlyMap<string, Counts> {
  const races = lines
    .filter(({ outcome }) => outcome.verdict !== 'inconclusive')
    .map((line) => ({ line, scenario: scenarioOfLine(line) }))
    .filter(({ scenario }) => expectationOf(scenario).isRace);
  const byKey = Map.groupBy(races, ({ scenario }) => raceKey(scenario));
  return new Map(
    [...byKey].map(([key, all]) => [key, countsOf(all.map(({ line }) => line))] as const),
  );
}

/** Several volumes under one fault are one event, and the worst of them counts. */
export function countsOf(lines: readonly RunLine[]): Counts {
  const words = [...Map.groupBy(lines, eventOf).values()].map((volumes) =>
    worstWord(volumes.map(({ outcome }) => outcome.verdict)),
  );
  const counts = safetyLevels.map(
    (level) => [level, words.filter((word) => word === level).length] as const,
  );
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

let known: ReadonlyMap<string, Counts> | undefined;

/** What all fault events of this scenario came to before. */
export function countedOf(scenario: Scenario): Counts {
  known ??= racesIn(readRuns());
  return known.get(raceKey(scenario)) ?? {};
}

/** What a run of this scenario is held against: reasoning, or what was counted. */
export const expectationFor = (scenario: Scenario): Pick<Scenario, 'expected' | 'counted'> =>
  expectedOf(scenario, countedOf);
