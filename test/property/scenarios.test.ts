/** Whole runs of random scenarios on the model: each ends, in time, with a verdict that is one. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyScenario } from './any-scenario.ts';
import { playOnce } from './play-once.ts';
import { brokenRules } from './verdict-rules.ts';

const runs = 300;

test('any scenario ends in time, with a verdict that agrees with itself', () =>
  fc.assert(
    fc.asyncProperty(anyScenario, fc.nat({ max: 999 }), async (scenario, seed) => {
      expect(brokenRules(await playOnce(scenario, String(seed)), scenario)).toEqual([]);
    }),
    { numRuns: runs, seed: 20_261_124 },
  ));
