/** Scenarios: defaults are stock, faults in them are named with their path. */
import { expect, test } from 'vitest';
import { basisOf, parseScenario, shortenedTimers } from './scenario.ts';

const minimal = {
  ...{ name: 'test', question: '?', expected: ['safe' as const] },
  fault: { kind: 'node-crash' },
} as const;

test('what is not said is stock', () => {
  const scenario = parseScenario(minimal);
  expect(shortenedTimers(scenario)).toEqual([]);
  expect(basisOf({ isModel: false }, scenario)).toBe('measured');
  expect(basisOf({ isModel: true }, scenario)).toBe('predicted');
});

test('any changed timer makes the basis `shortened`', () => {
  for (const timer of ['grace', 'toleration', 'forceDetachAfter'] as const) {
    const scenario = parseScenario({ ...minimal, timers: { [timer]: 12_000 } });
    expect(shortenedTimers(scenario)).toEqual([timer]);
    expect(basisOf({ isModel: false }, scenario)).toBe('shortened');
  }
});
