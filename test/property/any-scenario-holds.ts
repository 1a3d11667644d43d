/** Random scenarios on the model: each ends, in time, with a verdict that agrees with itself. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { anyScenario } from './any-scenario.ts';
import { playOnce } from './play-once.ts';
import { brokenRules } from './verdict-rules.ts';

export const anyScenarioHolds = (runs: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(anyScenario, fc.nat({ max: 999 }), async (scenario, seed) => {
      expect(brokenRules(await playOnce(scenario, String(seed)), scenario)).toEqual([]);
    }),
    { numRuns: runs, seed: 20_261_124 },
  );
