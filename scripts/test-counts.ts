/** A reporter of vitest: counts, and a line for each thing that failed, as JSON in the file that `TEST_COUNTS` names. */
import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';

const countsSchema = z
  .strictObject({
    passed: z.number(),
    failed: z.number(),
    skipped: z.number(),
    /** The end of a long log is all that some readers get. */
    failures: z.array(z.string()).readonly(),
    /** A line a file that skipped tests. */
    skips: z.array(z.string()).readonly(),
  })
  .readonly();
export type Counts = z.infer<typeof countsSchema>;

export const noCounts: Counts = { passed: 0, failed: 0, skipped: 0, failures: [], skips: [] };

type Errors = readonly { readonly message: string }[];
/** What is read of vitest's `TestModule`. */
export interface TestFile {
  readonly relativeModuleId: string;
  errors(): Errors;
  readonly children: {
    allSuites(): Iterable<{ readonly fullName: string; errors(): Errors }>;
    allTests(): Iterable<{
      readonly fullName: string;
      result(): { readonly state: string; readonly errors?: Errors | undefined };
    }>;
  };
}

/** A hook that failed is one failed test, as is a file that could not be loaded; the tests behind it are skipped. */
function countsOfFile(file: TestFile): Counts {
  const failures: string[] = [];
  const fail = (what: string, errors: Errors | undefined): void => {
    const [why] = stripVTControlCharacters(errors?.[0]?.message ?? '').split('\n', 1);
    failures.push(`FAILED ${file.relativeModuleId}: ${what}: ${why}`);
  };
  if (file.errors().length > 0) fail('the file', file.errors());
  for (const suite of file.children.allSuites()) {
    if (suite.errors().length > 0) fail(`a hook of ${suite.fullName}`, suite.errors());
  }
  let [passed, skipped] = [0, 0];
  for (const test of file.children.allTests()) {
    const { state, errors } = test.result();
    if (state === 'passed') passed++;
    else if (state === 'failed') fail(test.fullName, errors);
    else skipped++;
  }
  const skips = skipped === 0 ? [] : [`SKIPPED ${file.relativeModuleId}: ${skipped} tests`];
  return { ...{ passed, skipped, failures, skips }, failed: failures.length };
}

export const sum = (a: Counts, b: Counts): Counts => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
  failures: [...a.failures, ...b.failures],
  skips: [...a.skips, ...b.skips],
});

const unhandled = ({ message }: Errors[number]): Counts => ({
  ...noCounts,
  ...{ failed: 1, failures: [`FAILED outside of a test: ${message}`] },
});

export const countsOf = (files: readonly TestFile[], outside: Errors): Counts =>
  [...files.map(countsOfFile), ...outside.map(unhandled)].reduce(sum, noCounts);

export default class CountsReporter {
  onTestRunEnd(files: readonly TestFile[], outside: Errors): void {
    const path = process.env['TEST_COUNTS'];
    if (path !== undefined) writeFileSync(path, JSON.stringify(countsOf(files, outside)));
  }
}

/** What the reporter wrote; a run that left nothing to read, or failed without saying where, is one failed test. */
export function readCounts(text: string, exitCode: number | null): Counts {
  let counts: Counts;
  try {
    counts = countsSchema.parse(JSON.parse(text));
  } catch {
    return { ...noCounts, failed: 1 };
  }
  return counts.failed === 0 && exitCode !== 0 ? { ...counts, failed: 1 } : counts;
}

/** Where nothing may be skipped, a skip is a failure. */
export const strict = ({ passed, failed, skipped, failures, skips }: Counts): Counts => ({
  ...noCounts,
  ...{ passed, failed: failed + skipped, failures: [...failures, ...skips] },
});

/** The last line of every test run. */
export function summaryLine({ passed, failed, skipped }: Counts): string {
  const line = `${passed} passed, ${failed} failed`;
  return skipped === 0 ? line : `${line}, ${skipped} skipped`;
}
