/** Rates that were counted: never one without how far it may be off, and whether two of them differ. */
/** Quantile of the normal distribution that leaves 2.5 % on either side. */
const z95 = 1.959963984540054;

interface ProportionBounds {
  readonly low: number;
  readonly high: number;
}

/**
 * Wilson's score interval of `count` in `of`, 95 % (Wilson 1927; method 3 in Newcombe 1998,
 * Statistics in Medicine 17:857). It says something even about 0 of n; [0, 1] for 0 of 0.
 */
export function wilson(count: number, of: number): ProportionBounds {
  if (of === 0) return { low: 0, high: 1 };
  const share = count / of;
  const square = z95 ** 2;
  const middle = share + square / (2 * of);
  const reach = z95 * Math.sqrt((share * (1 - share)) / of + square / (4 * of * of));
  const scale = 1 + square / of;
  return {
    // At the ends the formula gives 0 and 1 but for rounding.
    low: count === 0 ? 0 : (middle - reach) / scale,
    high: count === of ? 1 : (middle + reach) / scale,
  };
}

export interface Count {
  readonly count: number;
  readonly of: number;
}

/**
 * Newcombe's interval of the difference `b - a` of two independent rates, 95 %, from their Wilson
 * intervals (method 10 in Newcombe 1998, Statistics in Medicine 17:873).
 */
export function difference(a: Count, b: Count): ProportionBounds & { readonly by: number } {
  const [shareA, shareB] = [a, b].map(({ count, of }) => (of === 0 ? 0.5 : count / of)) as [
    number,
    number,
  ];
  const inA = wilson(a.count, a.of);
  const inB = wilson(b.count, b.of);
  const by = shareB - shareA;
  return {
    by,
    low: by - Math.hypot(shareB - inB.low, inA.high - shareA),
    high: by + Math.hypot(inB.high - shareB, shareA - inA.low),
  };
}

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
