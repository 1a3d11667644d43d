import { expect, test } from 'vitest';
import {
  countsOf,
  noCounts,
  readCounts,
  strict,
  sum,
  summaryLine,
  type TestFile,
} from './test-counts.ts';

type Errors = ReturnType<TestFile['errors']>;
const errors = (...messages: string[]): Errors => messages.map((message) => ({ message }));

/** Names with their states; `hook` is what the hook of its group said. */
const file = (
  tests: Readonly<Record<string, string>>,
  { hook = '', own = errors() } = {},
): TestFile => ({
  relativeModuleId: 'lib/a.test.ts',
  errors: () => own,
  children: {
    allSuites: () => [{ fullName: 'group', errors: () => (hook === '' ? [] : errors(hook)) }],
    allTests: () =>
      Object.entries(tests).map(([fullName, state]) => ({
        fullName,
        result: () => ({ state, errors: errors('\u001b[31mno\nat') }),
      })),
  },
});

const green = countsOf([file({ one: 'passed', two: 'skipped' })], []);

test('tests are counted, and a file that skips some is named', () => {
  const skips = ['SKIPPED lib/a.test.ts: 1 tests'];
  expect(green).toEqual({ ...noCounts, passed: 1, skipped: 1, skips });
});

test('a failed test is named, with its file and the first line of its error', () => {
  const counts = sum(green, countsOf([file({ 'group one': 'failed' })], []));
  expect(counts.failures).toEqual(['FAILED lib/a.test.ts: group one: no']);
  expect(counts).toMatchObject({ passed: 1, failed: 1 });
});

test('a hook that failed is named as well as what it kept from running', () => {
  const counts = countsOf([file({ one: 'skipped', two: 'skipped' }, { hook: 'no loops' })], []);
  expect(strict(counts)).toMatchObject({
    failed: 3,
    failures: ['FAILED lib/a.test.ts: a hook of group: no loops', 'SKIPPED lib/a.test.ts: 2 tests'],
  });
});

test('a file that could not be loaded and an error outside of a test are a failed test each', () => {
  const counts = countsOf([file({}, { own: errors('no such file') })], errors('lost'));
  expect(counts).toMatchObject({
    failed: 2,
    failures: ['FAILED lib/a.test.ts: the file: no such file', 'FAILED outside of a test: lost'],
  });
});

test('a run that failed without saying where is a failed test', () => {
  expect(readCounts(JSON.stringify(green), 1).failed).toBe(1);
  expect(readCounts(JSON.stringify(green), 0)).toEqual(green);
});

test.each(['', '{}', 'text', '{"passed":1'])('missing counts (%j) are a failure', (text) => {
  expect(readCounts(text, 0)).toEqual({ ...noCounts, failed: 1 });
});

test('the summary names skips only where there are any, and strictness fails them', () => {
  const counts = sum(green, { ...noCounts, passed: 1 });
  expect(summaryLine(counts)).toBe('2 passed, 0 failed, 1 skipped');
  expect(summaryLine(strict(counts))).toBe('2 passed, 1 failed');
});
