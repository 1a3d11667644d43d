/** All that has an interval: the phases of a run and its figures, each a number under its name. */
import { figureNames, type Figures } from './figures.ts';
import { durationS, phaseDefinitions, phaseKey } from './phases.ts';
import { intervalOf, toleranceS, type Interval } from './compare.ts';
import type { Steps } from './steps.ts';

/** Name → seconds, commits or percent; what did not come is not in it. */
export type Quantities = ReadonlyMap<string, number>;

export function quantitiesOf(steps: Steps, figures: Figures): Quantities {
  const phases = phaseDefinitions.map(
    (definition) => [phaseKey(definition), durationS(steps, definition)] as const,
  );
  const named = figureNames.map((name) => [name, figures[name]] as const);
  return new Map(
    [...phases, ...named].flatMap(([name, value]) =>
      typeof value === 'number' ? [[name, value] as const] : [],
    ),
  );
}

/** What fewer of the runs have says nothing of how long it takes: the others were cut short. */
const seenInMost = 0.9;

/**
 * Nine in ten lie within, and half a second beside the median is always allowed: witnesses tell of a
 * step no more exactly. Quantities that fewer than nine in ten of the runs have get none.
 */
export function intervalsOf(runs: readonly Quantities[]): Record<string, Interval> {
  const names = new Set(runs.flatMap((run) => [...run.keys()]));
  const intervals: Record<string, Interval> = {};
  for (const name of names) {
    const values = runs.map((run) => run.get(name)).filter((value) => value !== undefined);
    if (values.length >= runs.length * seenInMost) intervals[name] = statedInterval(values);
  }
  return intervals;
}

/** As a forecast states it. */
export function statedInterval(values: readonly number[]): Interval {
  const { from, median, to } = intervalOf(values);
  const round = (value: number): number => Math.round(value * 1000) / 1000;
  return {
    from: round(Math.min(from, median - toleranceS)),
    median: round(median),
    to: round(Math.max(to, median + toleranceS)),
  };
}
