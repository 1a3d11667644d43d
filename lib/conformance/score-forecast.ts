/** A forecast against what came: words, intervals with their widths, the rule beside the model. */
import { isDeepStrictEqual } from 'node:util';
import type { Interval } from './compare.ts';
import { meanOf } from '../counts.ts';
import { EvidenceError } from '../errors.ts';
import { withoutExpectation, type Forecast, type ForecastCell } from './forecast.ts';
import { quantitiesOf } from './figures.ts';
import type { RealRun } from './real-run.ts';
import { ruleRecord } from './rule.ts';

/** A real run of a cell. */
export interface CellRun {
  readonly cell: string;
  readonly run: RealRun;
}

export interface ScoredRun {
  readonly cell: ForecastCell;
  readonly run: RealRun;
  /** Lost or corrupt; undefined where the run proves nothing. */
  readonly damage: boolean | undefined;
  /** The model's share of the runs with damage. */
  readonly modelSays: number;
  /** Told whether a second mount came, as the rule asks. */
  readonly ruleToldSays: boolean;
  readonly quantities: readonly ScoredQuantity[];
  /** What nine in ten runs of the model have, and this one has not. */
  readonly missing: readonly string[];
}

interface ScoredQuantity {
  readonly name: string;
  readonly value: number;
  readonly model: Interval;
  /** Interval of earlier real runs, whatever their scenario; absent where they were too few. */
  readonly earlier: Interval | undefined;
}

/** Throws EvidenceError `FORECAST_OF_ANOTHER` where a run's scenario is not the one that was foretold. */
export function scoreRun(forecast: Forecast, { cell: id, run }: CellRun): ScoredRun {
  const cell = forecast.cells.find((each) => each.id === id);
  if (cell === undefined || !isOf(cell, run)) {
    throw new EvidenceError('FORECAST_OF_ANOTHER', `${run.run} is no run of what was foretold`, {
      hint: 'score the batch of the forecast’s own matrix, with the same flags',
    });
  }
  const { rule, model } = cell;
  const values = quantitiesOf(run.milestones, run.figures);
  const foretold = run.starved ? [] : Object.entries(model.intervals);
  return {
    ...{ cell, run, modelSays: (model.words.lost ?? 0) + (model.words.corrupt ?? 0) },
    damage: run.verdict === 'inconclusive' ? undefined : isDamage(run.verdict),
    ruleToldSays: rule.damage && run.figures.secondMountS !== null,
    quantities: foretold.flatMap(([name, interval]) => {
      const value = values.get(name);
      const earlier = forecast.earlier.intervals[name];
      return value === undefined ? [] : [{ name, value, model: interval, earlier }];
    }),
    missing: foretold.map(([name]) => name).filter((name) => !values.has(name)),
  };
}

const isDamage = (word: string): boolean => word === 'lost' || word === 'corrupt';

/** Fields that scenarios got later are not in the forecast. */
function isOf({ scenario }: ForecastCell, run: RealRun): boolean {
  const real = withoutExpectation(run.scenario);
  return Object.entries(scenario).every(
    ([field, value]) => field === 'question' || isDeepStrictEqual(real[field], value),
  );
}

interface WordScores {
  /** Runs with a verdict. */
  readonly runs: number;
  /** Who said the likelier of damage and none. */
  readonly right: Readonly<Record<Forecaster, number>>;
  readonly brier: Readonly<Record<Forecaster, number>>;
  /** The model's, over all words: 0 to 2. */
  readonly ofWords: number;
}

/**
 * `rule told`: it knows whether a second mount came. `rule with its record`: it believes itself as
 * often as it was right before.
 */
export const forecasters = ['model', 'rule', 'rule told', 'rule with its record'] as const;
type Forecaster = (typeof forecasters)[number];

export function scoreWords(all: readonly ScoredRun[]): WordScores {
  const runs = all.filter(({ damage }) => damage !== undefined);
  const each = (score: (says: number, damage: boolean) => number) => (who: Forecaster) =>
    runs.map((run) => score(saysOf(who, run), run.damage === true));
  const byForecaster = (of: (who: Forecaster) => number): Record<Forecaster, number> =>
    Object.fromEntries(forecasters.map((who) => [who, of(who)])) as Record<Forecaster, number>;
  const hits = each((says, damage) => (says > 0.5 === damage ? 1 : 0));
  const briers = each(brier);
  return {
    runs: runs.length,
    right: byForecaster((who) => hits(who).reduce((sum, hit) => sum + hit, 0)),
    brier: byForecaster((who) => meanOf(briers(who))),
    ofWords: meanOf(runs.map(({ cell, run }) => brierOfWords(cell.model.words, run.verdict))),
  };
}

function saysOf(who: Forecaster, { cell, modelSays, ruleToldSays }: ScoredRun): number {
  const { damage } = cell.rule;
  const trust = ruleRecord.right / ruleRecord.of;
  const says: Readonly<Record<Forecaster, number>> = {
    model: modelSays,
    rule: damage ? 1 : 0,
    'rule told': ruleToldSays ? 1 : 0,
    'rule with its record': damage ? trust : 1 - trust,
  };
  return says[who];
}

export interface IntervalScores {
  /** Values that were compared. */
  readonly count: number;
  readonly inside: number;
  /** Means, in the unit of the values. */
  readonly width: number;
  readonly winkler: number;
}

/** Scores over the values that both have an interval for; they say more than what one alone has. */
export interface QuantityScores {
  readonly name: string;
  readonly model: IntervalScores;
  readonly earlier: IntervalScores;
}

/** By quantity, in the order of the runs' own. */
export function scoreIntervals(all: readonly ScoredRun[]): QuantityScores[] {
  const values = all.flatMap(({ quantities }) => quantities);
  return [...new Set(values.map(({ name }) => name))].flatMap((name) => {
    const both = values
      .filter((each) => each.name === name)
      .flatMap(({ value, model, earlier }) =>
        earlier === undefined ? [] : [{ value, model, earlier }],
      );
    if (both.length === 0) return [];
    const scores = (of: 'model' | 'earlier'): IntervalScores =>
      scoreOf(both.map((each) => ({ value: each.value, interval: each[of] })));
    return [{ name, model: scores('model'), earlier: scores('earlier') }];
  });
}

interface Stated {
  readonly value: number;
  readonly interval: Interval;
}

const scoreOf = (all: readonly Stated[]): IntervalScores => ({
  count: all.length,
  inside: all.filter(({ value, interval }) => isInside(interval, value)).length,
  width: meanOf(all.map(({ interval: { from, to } }) => to - from)),
  winkler: meanOf(all.map(({ value, interval }) => winkler(interval, value))),
});

/** Nine in ten lie within. */
const outside = 0.1;

/**
 * Winkler's score of an interval of nine in ten (Winkler 1972; Gneiting and Raftery 2007, §6.2): its
 * width, and twenty times what the value lies beside it. In the value's unit; less is better.
 */
export function winkler({ from, to }: Interval, value: number): number {
  const beside = Math.max(0, from - value, value - to);
  return to - from + (2 / outside) * beside;
}

export const isInside = ({ from, to }: Interval, value: number): boolean =>
  value >= from && value <= to;

/** Brier's score of a probability: 0 where it was sure and right, 1 where it was sure and wrong. */
export const brier = (probability: number, happened: boolean): number =>
  (probability - (happened ? 1 : 0)) ** 2;

/** Over all words: 0 where it was sure and right, 2 where it was sure and wrong. */
export function brierOfWords(shares: Readonly<Record<string, number>>, happened: string): number {
  const words = new Set([...Object.keys(shares), happened]);
  return [...words].reduce((sum, word) => sum + brier(shares[word] ?? 0, word === happened), 0);
}
