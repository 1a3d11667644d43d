/** Are two counted rates of one kind? An exact test, for the small counts that real runs leave. */
import type { Count } from './intervals.ts';

/** Two rates differ where chance alone gives so great a difference more rarely than this. */
export const significance = 0.05;

/**
 * Fisher's exact test of two independent rates, two-sided: the chance of a table that is no more
 * likely than this one, given its margins (Fisher 1935; Agresti, Categorical Data Analysis, 3.5.1).
 * 1 where one of them counted nothing.
 */
export function fisher(a: Count, b: Count): number {
  const hits = a.count + b.count;
  const least = Math.max(0, hits - b.of);
  const most = Math.min(a.of, hits);
  const chances = Array.from({ length: most - least + 1 }, (_, index) =>
    Math.exp(logChance(least + index, a.of, b.of, hits)),
  );
  const seen = chances[a.count - least] ?? 1;
  // Equal ones differ by rounding.
  const asRare = chances.filter((chance) => chance <= seen * (1 + 1e-9));
  return Math.min(
    1,
    asRare.reduce((sum, chance) => sum + chance, 0),
  );
}

/** Hypergeometric: of `hits` in both samples, so many are in the first. */
const logChance = (inA: number, ofA: number, ofB: number, hits: number): number =>
  logChoose(ofA, inA) + logChoose(ofB, hits - inA) - logChoose(ofA + ofB, hits);

function logChoose(of: number, take: number): number {
  let sum = 0;
  for (let index = 1; index <= take; index++) sum += Math.log((of - take + index) / index);
  return sum;
}
