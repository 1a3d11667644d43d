import { expect, test } from 'vitest';
import { countsOf, strict, sum, summaryLine } from './test-counts.ts';

const report = {
  numPassedTests: 5,
  numFailedTests: 0,
  numPendingTests: 1,
  numTodoTests: 1,
  testResults: [{ status: 'passed', assertionResults: [{}] }],
};

test('counts are taken over from the report', () => {
  expect(countsOf(report, 0)).toEqual({ passed: 5, failed: 0, skipped: 2 });
});

test('a file that could not be loaded counts as a failed test', () => {
  const broken = { ...report, testResults: [{ status: 'failed', assertionResults: [] }] };
  expect(countsOf(broken, 1).failed).toBe(1);
});

test('a run that failed without a failed test still counts as failed', () => {
  expect(countsOf(report, 1).failed).toBe(1);
});

test.each([undefined, {}, 'text'])('a missing report (%j) is a failure', (nothing) => {
  expect(countsOf(nothing, 0)).toEqual({ passed: 0, failed: 1, skipped: 0 });
});

test('the summary names skips only where there are any, and strictness fails them', () => {
  const counts = sum(countsOf(report, 0), { passed: 1, failed: 0, skipped: 0 });
  expect(summaryLine(counts)).toBe('6 passed, 0 failed, 2 skipped');
  expect(summaryLine(strict(counts))).toBe('6 passed, 2 failed');
});
