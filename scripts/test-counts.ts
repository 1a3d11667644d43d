/** Counts of test runs, taken from vitest's own JSON reports. */
import { z } from 'zod';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export const noCounts: Counts = { passed: 0, failed: 0, skipped: 0 };

/** What is read of a report of vitest's `json` reporter. */
const reportSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.unknown()) })),
});

/**
 * Counts of one vitest run. A file that could not be loaded counts as one failed test, and so does
 * a run that failed without saying where, or that left no report.
 */
export function countsOf(report: unknown, exitCode: number | null): Counts {
  const parsed = reportSchema.safeParse(report);
  if (!parsed.success) return { ...noCounts, failed: 1 };
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } =
    parsed.data;
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  ).length;
  const failed = numFailedTests + broken;
  return {
    passed: numPassedTests,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: numPendingTests + numTodoTests,
  };
}

export const sum = (a: Counts, b: Counts): Counts => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
});

/** Where nothing may be skipped, a skip is a failure. */
export const strict = ({ passed, failed, skipped }: Counts): Counts => ({
  passed,
  failed: failed + skipped,
  skipped: 0,
});

/** The last line of every test run. */
export function summaryLine({ passed, failed, skipped }: Counts): string {
  const line = `${passed} passed, ${failed} failed`;
  return skipped === 0 ? line : `${line}, ${skipped} skipped`;
}
