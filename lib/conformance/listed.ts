/** Differences between model and reality that are known, each with its reason. */

export interface ListedDifference {
  /** A phase, `A before B`, `A only real`, `A only model`, or `verdict X`. */
  readonly what: string;
  /** Names of runs it is about; every run where absent. */
  readonly runs?: readonly string[];
  /** A phase may take so long in reality and still be this difference, s. Default: without end. */
  readonly toS?: number;
  readonly why: string;
}

export const listedDifferences: readonly ListedDifference[] = [];

export interface Difference {
  readonly what: string;
  readonly run: string;
  /** Of a phase. */
  readonly realS?: number;
}

/** Why this difference is no news; undefined where it is. */
export function reasonFor(
  { what, run, realS }: Difference,
  listed: readonly ListedDifference[] = listedDifferences,
): string | undefined {
  return listed.find(
    (entry) =>
      entry.what === what &&
      (entry.runs === undefined || entry.runs.includes(run)) &&
      (entry.toS === undefined || realS === undefined || realS <= entry.toS),
  )?.why;
}
