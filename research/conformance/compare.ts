/**
 * Where a real run and the model's runs of the same scenario differ: a duration outside of what the
 * model gives, two milestones in an order that it never gives, one that one side alone has.
 */
import { isAfterHeal, witnessOf, type MilestoneTimes, type TimedName } from './milestone-times.ts';
import type { MilestoneWitness } from '../../lib/judge/index.ts';
import { durationS, phaseDefinitions, phaseKey } from './phases.ts';

/** Seconds between which nine of ten runs of the model lie. */
export interface Interval {
  readonly from: number;
  readonly median: number;
  readonly to: number;
}

export interface PhaseComparison {
  /** `from → to`, by the names of milestones. */
  readonly phase: string;
  readonly is: string;
  readonly realS: number;
  readonly model: Interval;
  /** Its spread in the model is under a second: then half a second around the median is allowed. */
  readonly constant: boolean;
  readonly fit: Fit;
}

/**
 * `rare`: a random phase outside of nine in ten of the model's runs, but within their whole range.
 * Some are to be expected; whether there are too many is judged over all runs together.
 */
export type Fit = 'fits' | 'rare' | 'differs';

export interface OrderDifference {
  /** In the real run the first of the two came first; in no run of the model. */
  readonly first: TimedName;
  readonly second: TimedName;
  readonly realGapS: number;
}

export interface MilestoneDifference {
  readonly milestone: TimedName;
  /** Who has it, in every run; the other has it in none. */
  readonly onlyIn: 'real' | 'model';
}

export interface Comparison {
  readonly phases: readonly PhaseComparison[];
  readonly orders: readonly OrderDifference[];
  readonly milestones: readonly MilestoneDifference[];
  /** Pairs of milestones whose order was compared. */
  readonly pairs: number;
}

/** A constant of the model is allowed to be off by so much, s. */
const toleranceS = 0.5;
/** A phase of the model with less spread than this counts as a constant, s. */
const constantSpreadS = 1;

/** What fewer of the model's runs have says nothing of how long it takes: the others were cut short. */
const seenInMost = 0.9;
/**
 * So much beyond the whole range of the model's runs differs, as a share of that range: what forty
 * runs show ends well before what the model can give.
 */
const beyondShare = 0.25;

/** How late a witness may tell of a milestone, ms: orders closer than that are not judged. */
const lateMs: Readonly<Record<MilestoneWitness, number>> = {
  runner: 50,
  api: 100,
  csi: 20,
  mounts: 500,
  log: 1000,
};

/** `model`: the milestones of at least 20 runs. */
export function compare(real: MilestoneTimes, model: readonly MilestoneTimes[]): Comparison {
  const orders = compareOrders(real, model);
  return {
    phases: comparePhases(real, model),
    ...orders,
    milestones: compareMilestones(real, model),
  };
}

const comparePhases = (real: MilestoneTimes, runs: readonly MilestoneTimes[]): PhaseComparison[] =>
  phaseDefinitions.flatMap((definition) => {
    const realS = durationS(real, definition);
    const drawn = runs
      .map((times) => durationS(times, definition))
      .filter((seconds) => seconds !== undefined);
    if (realS === undefined || drawn.length < runs.length * seenInMost) return [];
    const model = intervalOf(drawn);
    const constant = model.to - model.from < constantSpreadS;
    const phase = phaseKey(definition);
    const fit = constant ? fitOfConstant(realS, model) : fitOfRandom(realS, model, drawn);
    return [{ phase, is: definition.is, realS, model, constant, fit }];
  });

function fitOfConstant(realS: number, { from, median, to }: Interval): Fit {
  const least = Math.min(from, median - toleranceS);
  const most = Math.max(to, median + toleranceS);
  return realS >= least && realS <= most ? 'fits' : 'differs';
}

function fitOfRandom(realS: number, { from, to }: Interval, drawn: readonly number[]): Fit {
  if (realS >= from && realS <= to) return 'fits';
  const [shortest, longest] = [Math.min(...drawn), Math.max(...drawn)];
  const beyond = Math.max(toleranceS, (longest - shortest) * beyondShare);
  const [least, most] = [shortest - beyond, longest + beyond];
  return realS >= least && realS <= most ? 'rare' : 'differs';
}

/** The 5th, 50th and 95th percentile, between neighbours in proportion. */
function intervalOf(values: readonly number[]): Interval {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => {
    const place = share * (sorted.length - 1);
    const [below, above] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
    if (below === undefined || above === undefined) throw new RangeError('no values');
    return below + (above - below) * (place - Math.floor(place));
  };
  return { from: at(0.05), median: at(0.5), to: at(0.95) };
}

function compareOrders(
  real: MilestoneTimes,
  model: readonly MilestoneTimes[],
): Pick<Comparison, 'orders' | 'pairs'> {
  const names = [...real.keys()].filter((name) => model.every((times) => times.has(name)));
  const orders: OrderDifference[] = [];
  let pairs = 0;
  for (const first of names) {
    for (const second of names) {
      const gapMs = timeOf(real, second) - timeOf(real, first);
      if (gapMs <= lateMs[witnessOf(first)] + lateMs[witnessOf(second)]) continue;
      pairs += 1;
      if (model.every((times) => timeOf(times, second) < timeOf(times, first))) {
        orders.push({ first, second, realGapS: gapMs / 1000 });
      }
    }
  }
  return { orders, pairs };
}

const timeOf = (times: MilestoneTimes, name: TimedName): number => times.get(name) ?? Number.NaN;

/** Compares the way to the heal: how much of the way back is seen depends on when both clients commit again. */
function compareMilestones(
  real: MilestoneTimes,
  model: readonly MilestoneTimes[],
): MilestoneDifference[] {
  const names = [real, ...model].flatMap((times) => [...times.keys()]);
  const all = new Set(names.filter((name) => !isAfterHeal(name)));
  return [...all].flatMap((milestone): MilestoneDifference[] => {
    const count = model.filter((times) => times.has(milestone)).length;
    if (real.has(milestone)) return count === 0 ? [{ milestone, onlyIn: 'real' }] : [];
    return count === model.length ? [{ milestone, onlyIn: 'model' }] : [];
  });
}
