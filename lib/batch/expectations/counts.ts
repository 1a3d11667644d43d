/** Fault events of the store, counted for the pages that quote them. */
import { expectationOf } from '../../judge/index.ts';
import { wilson, type Count } from '../../core/index.ts';
import { scenarioOfLine, type RunLine } from './runs.ts';
import { timing } from './scenario-key.ts';

export type EventFits = (line: RunLine) => boolean;

/** Values of scenario fields, or of each several that will do. */
export type Values = Readonly<Record<string, unknown>>;

/** What a scenario that does not name it has. */
const stockValues: Values = { remedy: 'none', disk: 'unfenced' };

const asTheyCome: readonly string[] = [...timing, 'rate', 'binlog'];

/**
 * Runs that had these values and were else as the stock scenario is, but for the fields of `any`. An
 * idle database counts only where that is said: `rate: 0`.
 */
export function only(values: Values, any: readonly string[] = []): EventFits {
  const free = new Set([...asTheyCome, ...any, ...Object.keys(values)]);
  const wantsIdle = values['rate'] === 0;
  return ({ scenario }) =>
    (wantsIdle || scenario['rate'] !== 0) &&
    Object.entries(values).every(([name, wanted]) =>
      [wanted].flat().includes(scenario[name] ?? stockValues[name]),
    ) &&
    Object.keys(scenario).every((name) => free.has(name));
}

export const all =
  (...asked: readonly EventFits[]): EventFits =>
  (line) =>
    asked.every((fits) => fits(line));

/** At the write rate that a run has by default, or idle: `only` lets an idle one through where a row names it. */
export const defaultRate: EventFits = ({ scenario: { rate } }) => rate === undefined || rate === 0;

export const stock: EventFits = ({ basis }) => basis === 'measured';
export const shortened: EventFits = ({ basis }) => basis === 'shortened';

/**
 * A race at another write rate than the default is another race (scenario-key.ts), so its events are
 * counted apart: the first number is what a run of the scenario is held against.
 */
export function textByRate(
  lines: readonly RunLine[],
  textOf: (lines: readonly RunLine[]) => string,
): string {
  const { own = [], other = [] } = Object.groupBy(lines, (line) =>
    defaultRate(line) || !expectationOf(scenarioOfLine(line)).isRace ? 'own' : 'other',
  );
  return [
    ...(own.length === 0 ? [] : [textOf(own)]),
    ...(other.length === 0 ? [] : [`${textOf(other)} at other rates`]),
  ].join('; ');
}

/** `7 of 7 (65–100 %)`: with Wilson's interval of 95 %; a dash where there are none. */
export function shareText({ count, of }: Count): string {
  if (of === 0) return '–';
  const { low, high } = wilson(count, of);
  return `${count} of ${of} (${percentText(low)}–${percentText(high)} %)`;
}

/** Without its sign: 0.649 → `65`. */
export const percentText = (share: number): string => (100 * share).toFixed(0);
