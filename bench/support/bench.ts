/** What a benchmark is: a file in bench/ whose default export measures one thing. */

export interface BenchContext {
  /** Lines for the terminal while it runs (stderr). */
  readonly onProgress: (line: string) => void;
  /** `--rows n,n`: the sizes to measure. Default: those of the benchmark's target. */
  readonly rows?: readonly number[];
  /** `--count n`: how many. Default: as many as the benchmark's target says. */
  readonly count?: number;
  /** `--live KUBECONFIG`: measures on that cluster now, where a benchmark reads records otherwise. */
  readonly live?: string;
}

export interface BenchResult {
  /** Whether the target is met. */
  readonly ok: boolean;
  /** The result for people, one line each. */
  readonly lines: readonly string[];
  /** The same for programs, printed by --json. */
  readonly data: Readonly<Record<string, unknown>>;
}

export type Bench = (context: BenchContext) => Promise<BenchResult>;

/** The middle value; the mean of the two middle ones of an even number. NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}
