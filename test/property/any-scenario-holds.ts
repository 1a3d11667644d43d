/** Random scenarios on the model: each ends, in time, with a verdict that agrees with itself and with the sweep. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { isPlayed } from './agreement.ts';
import { anyScenario } from './any-scenario.ts';
import { playOnce } from './play-once.ts';
import { brokenRules } from './verdict-rules.ts';

export const anyScenarioHolds = (runs: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(anyScenario, fc.nat({ max: 999 }), async (scenario, seed) => {
      const played = await playOnce(scenario, String(seed));
      expect(brokenRules(played, scenario)).toEqual([]);
      const { safety } = played.verdict;
      expect(isPlayed(scenario, safety), `no play of the sweep is ${safety}`).toBe(true);
    }),
    { numRuns: runs, seed: 20_261_124 },
  );
