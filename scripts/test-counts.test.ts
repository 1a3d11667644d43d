import { expect, test } from 'vitest';
import { countsOf, noCounts, strict, sum, summaryLine } from './test-counts.ts';

const report = {
  numPassedTests: 5,
  numFailedTests: 0,
  numPendingTests: 1,
  numTodoTests: 1,
  testResults: [
    {
      ...{ name: `${process.cwd()}/lib/a.test.ts`, status: 'passed' },
      assertionResults: [{ status: 'passed', fullName: 'one' }],
    },
  ],
};

test('counts are taken over from the report', () => {
  expect(countsOf(report, 0)).toEqual({ passed: 5, failed: 0, skipped: 2, failures: [] });
});

test('a file that could not be loaded counts as a failed test', () => {
  const file = {
    name: `${process.cwd()}/lib/b.test.ts`,
    status: 'failed',
    message: 'no such file',
  };
  const broken = { ...report, testResults: [{ ...file, assertionResults: [] }] };
  expect(countsOf(broken, 1)).toMatchObject({
    failed: 1,
    failures: ['FAILED lib/b.test.ts: could not be loaded: no such file'],
  });
});

test('a failed test is named, with its file and the first line of its error', () => {
  const failed = { status: 'failed', fullName: 'group one', failureMessages: ['\u001b[31mno\nat'] };
  const red = {
    ...{ ...report, numFailedTests: 1 },
    testResults: report.testResults.map((file) => ({ ...file, assertionResults: [failed] })),
  };
  const counts = sum(countsOf(report, 0), countsOf(red, 1));
  expect(strict(counts).failures).toEqual(['FAILED lib/a.test.ts: group one: no']);
});

test('a run that failed without a failed test still counts as failed', () => {
  expect(countsOf(report, 1).failed).toBe(1);
});

test.each([undefined, {}, 'text'])('a missing report (%j) is a failure', (nothing) => {
  expect(countsOf(nothing, 0)).toEqual({ passed: 0, failed: 1, skipped: 0, failures: [] });
});

test('the summary names skips only where there are any, and strictness fails them', () => {
  const counts = sum(countsOf(report, 0), { ...noCounts, passed: 1 });
  expect(summaryLine(counts)).toBe('6 passed, 0 failed, 2 skipped');
  expect(summaryLine(strict(counts))).toBe('6 passed, 2 failed');
});
