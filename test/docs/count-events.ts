/** Fault events of the store, counted for the pages that quote them. */
import { verdictWords, type Scenario } from '../../lib/scenario/scenario.ts';
import type { VerdictWord } from '../../lib/judge/verdict/verdict.ts';
import {
  all,
  shareText,
  shortened,
  stock,
  textByRate,
  type EventFits,
} from '../../lib/batch/counted.ts';
import { cellKey, eventOf, scenarioOfLine, type RunLine } from '../../lib/batch/measurements.ts';
import type { Count } from '../../lib/core/numbers.ts';

/** Counts the fault events that fit, and those all of whose volumes came to one of the words. */
export function countOf(
  lines: readonly RunLine[],
  words: readonly VerdictWord[],
  fits: EventFits,
): Count {
  const events = [...Map.groupBy(lines.filter(fits), eventOf).values()];
  const came = events.filter((volumes) =>
    volumes.every(({ outcome }) => words.includes(outcome.verdict)),
  );
  return { count: came.length, of: events.length };
}

/** The words that came, each with its share of the events: `lost 2 of 3 (21–94 %)`. Empty where none fits. */
export const tallyOf = (lines: readonly RunLine[], fits: EventFits): string =>
  textByRate(lines.filter(fits), (some) =>
    verdictWords
      .map((word) => ({ word, came: countOf(some, [word], () => true) }))
      .filter(({ came }) => came.count > 0)
      .map(({ word, came }) => `${word} ${shareText(came)}`)
      .join(', '),
  );

/** Fault events on kind of the same scenario, but for timers and moments; empty where there are none. */
export function measuredText(scenario: Scenario, lines: readonly RunLine[]): string {
  const key = cellKey(scenario);
  const isSame = (line: RunLine): boolean => cellKey(scenarioOfLine(line)) === key;
  const short = tallyOf(lines, all(isSame, shortened));
  return [tallyOf(lines, all(isSame, stock)), short === '' ? '' : `*short:* ${short}`]
    .filter(Boolean)
    .join('; ');
}
