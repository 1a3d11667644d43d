/** Distributions: what independent fault events of one scenario came to. */
import { expectedOf } from '../experiment/expectation/counted.ts';
import { expectationOf } from '../experiment/expectation/expectations.ts';
import { safetyLevels, type Counts, type Scenario } from '../experiment/scenario.ts';
import type { Safety } from '../experiment/verdict/verdict.ts';
import { worstWord } from './severity.ts';
import { eventOf, readRuns, scenarioOfLine, type RunLine } from './runs.ts';
import { raceKey } from './scenario-key.ts';

/** Several volumes with one scenario under one fault are one event, and the worst of them counts. */
export interface FaultEvent {
  readonly verdict: Safety;
  readonly line: RunLine;
}

export interface Race {
  /** Its first line's. */
  readonly scenario: Scenario;
  readonly events: readonly FaultEvent[];
}

/** Races by `raceKey`, in the order of the store; what came to no verdict proves nothing. */
export function racesIn(lines: readonly RunLine[]): ReadonlyMap<string, Race> {
  const told = lines
    .filter(({ outcome }) => outcome.verdict !== 'inconclusive')
    .map((line) => ({ line, scenario: scenarioOfLine(line) }))
    .filter(({ scenario }) => expectationOf(scenario).isRace);
  const groups = Map.groupBy(told, ({ scenario }) => raceKey(scenario));
  return new Map(
    [...groups].flatMap(([key, all]): [string, Race][] => {
      const [first] = all;
      if (first === undefined) return [];
      return [[key, { scenario: first.scenario, events: eventsOf(all.map(({ line }) => line)) }]];
    }),
  );
}

function eventsOf(lines: readonly RunLine[]): FaultEvent[] {
  return [...Map.groupBy(lines, eventOf).values()].flatMap((volumes) => {
    const verdict = worstWord(volumes.map(({ outcome }) => outcome.verdict));
    const [line] = volumes;
    return line === undefined || verdict === 'inconclusive' ? [] : [{ verdict, line }];
  });
}

export function countsOf(events: readonly FaultEvent[]): Counts {
  const counts = safetyLevels.map(
    (level) => [level, events.filter(({ verdict }) => verdict === level).length] as const,
  );
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

let known: ReadonlyMap<string, Race> | undefined;

/** What all fault events of this scenario came to before. */
export function countedOf(scenario: Scenario): Counts {
  known ??= racesIn(readRuns());
  return countsOf(known.get(raceKey(scenario))?.events ?? []);
}

/** What a run of this scenario is held against: reasoning, or what was counted. */
export const expectationFor = (scenario: Scenario): Pick<Scenario, 'expected' | 'counted'> =>
  expectedOf(scenario, countedOf);
