/** What the comparisons of many runs come to: which differences are news, and whether too many are rare. */
import type { Verdict } from '../../lib/judge/index.ts';
import { sayMilestone } from './milestone-times.ts';
import type { Comparison } from './compare.ts';
import { reasonFor, type FoundDifference } from './listed.ts';
import { busyBecause, lateBecause, swappedBecause } from './load.ts';
import type { PredictedRun } from './predict.ts';
import type { RealRun } from './real-run.ts';

type Word = Verdict['verdict'];

export interface RunComparison extends Comparison, Pick<RealRun, 'run' | 'starved' | 'load'> {
  /** Fault, remedy, disk. */
  readonly scenario: string;
  readonly realVerdict: Word;
  /** How many runs of the model came out so. */
  readonly modelVerdicts: Words;
  /** Race that the model lost or won otherwise: its words at the hand-over that the run had. */
  readonly atItsPace?: {
    /** From the detach's answer to the successor's access: the run's, and the model's median. */
    readonly handOverS: number;
    readonly usualS: number;
    /** The cut came so long after the detach's answer, to be as late as in the run. */
    readonly cutAfterMs: number;
    readonly words: Words;
  };
  readonly modelRuns: number;
}

export type Words = Readonly<Partial<Record<Word, number>>>;

export interface JudgedDifference extends FoundDifference {
  /** In words, with its numbers. */
  readonly says: string;
  /** Why it is known; absent where it is news. */
  readonly because?: string;
}

export function countVerdicts(predictions: readonly Pick<PredictedRun, 'verdict'>[]): Words {
  const counts: Partial<Record<Word, number>> = {};
  for (const { verdict } of predictions) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}

/** A difference as it was found, with what of the machine explains it. */
type UnexplainedDifference = Omit<JudgedDifference, 'because'> & {
  readonly load?: string | undefined;
};

export function differencesOf(comparison: RunComparison): JudgedDifference[] {
  const found = [
    ...phaseDifferences(comparison),
    ...milestoneDifferences(comparison),
    ...wordDifferences(comparison),
  ];
  return found.map(({ load, ...difference }) => {
    const because = reasonFor(difference) ?? load;
    return because === undefined ? difference : { ...difference, because };
  });
}

const phaseDifferences = ({ run, phases, load }: RunComparison): UnexplainedDifference[] =>
  phases
    .filter(({ fit }) => fit === 'differs')
    .map((each) => {
      const { phase, is, realS, model } = each;
      const span = `${seconds(model.from)} to ${seconds(model.to)}`;
      const says = `${phase} (${is}): ${seconds(realS)}, in the model ${span}`;
      return { what: phase, run, realS, says, load: lateBecause(each, load) };
    });

function milestoneDifferences({
  run,
  orders,
  milestones,
  load,
}: RunComparison): UnexplainedDifference[] {
  const swapped = orders.map(({ first, second, realGapS }) => ({
    load: swappedBecause(realGapS, load),
    ...{ what: `${first} before ${second}`, run },
    says: `“${sayMilestone(first)}” came ${seconds(realGapS)} before “${sayMilestone(second)}”; in the model always after it`,
  }));
  const alone = milestones.map(({ milestone, onlyIn }) => ({
    ...{ what: `${milestone} only ${onlyIn}`, run },
    says:
      onlyIn === 'real'
        ? `“${sayMilestone(milestone)}” never comes in the model`
        : `“${sayMilestone(milestone)}” did not come, and always does in the model`,
  }));
  return [...swapped, ...alone];
}

function wordDifferences(comparison: RunComparison): UnexplainedDifference[] {
  const { run, realVerdict, modelVerdicts, atItsPace, load } = comparison;
  if ((modelVerdicts[realVerdict] ?? 0) > 0) return [];
  const says = `it came out ${realVerdict}; in the model ${wordsText(modelVerdicts)}`;
  const what = `verdict ${realVerdict}`;
  if (atItsPace === undefined) return [{ what, run, says }];
  const { handOverS, usualS, words } = atItsPace;
  const paced = `after a hand-over of ${seconds(handOverS)}, not ${seconds(usualS)}, it has ${wordsText(words)}`;
  const busy = (words[realVerdict] ?? 0) > 0 ? busyBecause(load) : undefined;
  return [
    {
      what,
      run,
      says: `${says}; ${paced}`,
      load: busy === undefined ? undefined : `${busy}; ${paced}`,
    },
  ];
}

const wordsText = (words: Words): string =>
  Object.entries(words)
    .map(([word, count]) => `${word} ${count}`)
    .join(', ');

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
