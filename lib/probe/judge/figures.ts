/** Counts and times of several findings. */

export interface Figure {
  readonly what: string;
  readonly n: number;
  /** Milliseconds; of few trials the 90th percentile is the longest. */
  readonly leastMs: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly mostMs: number;
}

/** Nearest rank: a value that was measured. */
export function figure(what: string, values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = (share: number): number =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return {
    ...{ what, n: sorted.length, leastMs: rank(0), p50Ms: rank(0.5), p90Ms: rank(0.9) },
    mostMs: rank(1),
  };
}

/** One for each of `asked` that some finding has. */
export const figuresOf = <T>(
  findings: readonly T[],
  asked: Readonly<Record<string, (finding: T) => number | undefined>>,
): Figure[] =>
  Object.entries(asked).flatMap(([what, value]) => {
    const values = findings.flatMap((finding) => value(finding) ?? []);
    return values.length === 0 ? [] : [figure(what, values)];
  });

export const tally = <T extends string>(words: readonly T[]): Partial<Record<T, number>> =>
  Object.fromEntries(
    [...Map.groupBy(words, (word) => word)].map(([word, each]) => [word, each.length]),
  ) as Partial<Record<T, number>>;
