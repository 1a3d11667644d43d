/** Numbers and words as people read them. */

/** With thousands separators: 20982 → `20,982`. */
export const countInWords = (n: number): string => n.toLocaleString('en-US');

/** `1 row`, `2 rows`. */
export const plural = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The lower middle of an even number; undefined of none. */
export const medianOf = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)];

export const sumOf = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0);

/** NaN of none. */
export const meanOf = (values: readonly number[]): number => sumOf(values) / values.length;

/** Rates that were counted: never one without how far it may be off, and whether two of them differ. */
/** Quantile of the normal distribution that leaves 2.5 % on either side. */
const z95 = 1.959963984540054;

export interface ProportionBounds {
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

/** A table as Markdown has it: a head, a rule, and a line a row; ends without a line break. */
export const markdownTable = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** Undefined where none is near. */
export function nearestOf(word: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map((each) => ({ each, edits: editsBetween(word.toLowerCase(), each.toLowerCase()) }))
    .filter(({ each, edits }) => edits <= Math.max(1, each.length / 3))
    .toSorted((a, b) => a.edits - b.edits);
  return nearest?.each;
}

/** Letters to put in, take out or replace (Levenshtein). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of from.split('').entries()) {
    let left = index + 1;
    row = row.map((above, at) => {
      if (at === 0) return left;
      const before = row[at - 1] ?? 0;
      left = Math.min(above + 1, left + 1, before + (letter === to[at - 1] ? 0 : 1));
      return left;
    });
  }
  return row[to.length] ?? from.length;
}
