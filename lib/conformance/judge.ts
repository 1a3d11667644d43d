/** What the comparisons of many runs come to: which differences are news, and whether too many are rare. */
import type { Verdict } from '../experiment/verdict.ts';
import type { Comparison } from './compare.ts';
import { reasonFor, type Difference } from './listed.ts';
import type { Prediction } from './predict.ts';
import { sayStep } from './steps.ts';

type Word = Verdict['verdict'];

export interface RunComparison extends Comparison {
  /** The run's folder, its last part. */
  readonly run: string;
  /** Fault, remedy, disk. */
  readonly scenario: string;
  readonly realVerdict: Word;
  /** How many runs of the model came out so. */
  readonly modelVerdicts: Readonly<Partial<Record<Word, number>>>;
  readonly modelRuns: number;
  /** Its machine did not keep time: nothing but the verdict is compared. */
  readonly starved: boolean;
}

export interface JudgedDifference extends Difference {
  /** In words, with its numbers. */
  readonly says: string;
  /** Why it is known; absent where it is news. */
  readonly because?: string;
}

export function countVerdicts(predictions: readonly Prediction[]): RunComparison['modelVerdicts'] {
  const counts: Partial<Record<Word, number>> = {};
  for (const { verdict } of predictions) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}

export function differencesOf(comparison: RunComparison): JudgedDifference[] {
  const { run, phases, orders, steps, realVerdict, modelVerdicts } = comparison;
  const found: Omit<JudgedDifference, 'because'>[] = [];
  for (const { phase, is, realS, model, fit } of phases) {
    if (fit !== 'differs') continue;
    const span = `${seconds(model.from)} to ${seconds(model.to)}`;
    const says = `${phase} (${is}): ${seconds(realS)}, in the model ${span}`;
    found.push({ what: phase, run, realS, says });
  }
  for (const { first, second, realGapS } of orders) {
    const says = `“${sayStep(first)}” came ${seconds(realGapS)} before “${sayStep(second)}”; in the model always after it`;
    found.push({ what: `${first} before ${second}`, run, says });
  }
  for (const { step, onlyIn } of steps) {
    const says =
      onlyIn === 'real'
        ? `“${sayStep(step)}” never comes in the model`
        : `“${sayStep(step)}” did not come, and always does in the model`;
    found.push({ what: `${step} only ${onlyIn}`, run, says });
  }
  if ((modelVerdicts[realVerdict] ?? 0) === 0) {
    const words = Object.entries(modelVerdicts).map(([word, count]) => `${word} ${count}`);
    const says = `it came out ${realVerdict}; in the model ${words.join(', ')}`;
    found.push({ what: `verdict ${realVerdict}`, run, says });
  }
  return found.map((difference) => {
    const because = reasonFor(difference);
    return because === undefined ? difference : { ...difference, because };
  });
}

const seconds = (value: number): string => `${value.toFixed(2)} s`;

export interface Rarity {
  /** Random phases that were compared, and how many lie outside of nine in ten of the model's runs. */
  readonly random: number;
  readonly rare: number;
  /** How likely so many, or more, are where the model is right and the phases independent. */
  readonly chance: number;
}

/** Over all runs. */
export function rarityOf(
  comparisons: readonly Pick<RunComparison, 'phases' | 'modelRuns'>[],
): Rarity {
  const random = comparisons.flatMap(({ phases, modelRuns }) =>
    phases
      .filter(({ constant, fit }) => !constant && fit !== 'differs')
      .map(({ fit }) => ({ isRare: fit === 'rare', expected: outsideOf(modelRuns) })),
  );
  const rare = random.filter(({ isRare }) => isRare).length;
  const expected = random.reduce((sum, each) => sum + each.expected, 0) / random.length;
  return { random: random.length, rare, chance: atLeast(rare, random.length, expected) };
}

/**
 * How often what comes next lies outside of the 5th to 95th percentile of so many runs, where all are
 * alike: one in ten only of endless runs, 14 % of forty (the k-th of n values is exceeded by n + 1 - k
 * in n + 1).
 */
const outsideOf = (runs: number): number => 1 - (0.9 * (runs - 1)) / (runs + 1);

/** Below this, so many rare phases are no accident. */
export const leastChance = 0.01;

/** P(X ≥ k), X binomial. */
function atLeast(k: number, n: number, p: number): number {
  let [term, below] = [(1 - p) ** n, 0];
  for (let i = 0; i < k; i++) {
    below += term;
    term *= ((n - i) / (i + 1)) * (p / (1 - p));
  }
  return Math.max(0, 1 - below);
}
