/** Counts of test runs and names of failed tests, taken from vitest's own JSON reports. */
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** A line a failed test: its file, its name, and what its error says first. */
  readonly failures: readonly string[];
}

export const noCounts: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] };

/** What is read of a report of vitest's `json` reporter. */
const reportSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({
          status: z.string(),
          fullName: z.string(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
});

type FileReport = z.infer<typeof reportSchema>['testResults'][number];

const couldNotLoad = ({ status, assertionResults }: FileReport): boolean =>
  status === 'failed' && assertionResults.length === 0;

/** What failed in a file: the end of a long log is all that some readers get. */
function failuresOf(file: FileReport): readonly string[] {
  const line = (what: string, why = ''): string =>
    `FAILED ${relative(process.cwd(), file.name)}: ${what}: ${stripVTControlCharacters(why).split('\n', 1)[0]}`;
  if (couldNotLoad(file)) return [line('could not be loaded', file.message)];
  return file.assertionResults
    .filter(({ status }) => status === 'failed')
    .map(({ fullName, failureMessages }) => line(fullName, failureMessages?.[0]));
}

/**
 * Counts of one vitest run. A file that could not be loaded counts as one failed test, and so does
 * a run that failed without saying where, or that left no report.
 */
export function countsOf(report: unknown, exitCode: number | null): Counts {
  const parsed = reportSchema.safeParse(report);
  if (!parsed.success) return { ...noCounts, failed: 1 };
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } =
    parsed.data;
  const failed = numFailedTests + testResults.filter(couldNotLoad).length;
  return {
    passed: numPassedTests,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: numPendingTests + numTodoTests,
    failures: testResults.flatMap(failuresOf),
  };
}

export const sum = (a: Counts, b: Counts): Counts => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
  failures: [...a.failures, ...b.failures],
});

/** Where nothing may be skipped, a skip is a failure. */
export const strict = ({ passed, failed, skipped, failures }: Counts): Counts => ({
  ...{ passed, failures },
  failed: failed + skipped,
  skipped: 0,
});

/** The last line of every test run. */
export function summaryLine({ passed, failed, skipped }: Counts): string {
  const line = `${passed} passed, ${failed} failed`;
  return skipped === 0 ? line : `${line}, ${skipped} skipped`;
}
