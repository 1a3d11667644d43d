/** Scenarios: defaults are stock, faults in them are named with their path. */
import { expect, test } from 'vitest';
import { basisOf, parseScenario, shortenedTimers } from './scenario.ts';

const minimal = { name: 'test', question: '?', fault: 'node-crash', expected: ['safe'] };

test('what is not said is stock', () => {
  const scenario = parseScenario(minimal);
  expect(shortenedTimers(scenario)).toEqual([]);
  expect(basisOf({ isModel: false }, scenario)).toBe('measured');
  expect(basisOf({ isModel: true }, scenario)).toBe('predicted');
});

test('any changed timer makes the basis `shortened`', () => {
  for (const timer of ['graceMs', 'tolerationMs', 'forceDetachAfterMs']) {
    const scenario = parseScenario({ ...minimal, [timer]: 12_000 });
    expect(shortenedTimers(scenario)).toEqual([timer]);
    expect(basisOf({ isModel: false }, scenario)).toBe('shortened');
  }
});
