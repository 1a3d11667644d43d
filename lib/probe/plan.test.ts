/** What a cut says that it will do, by its remedy. */
import { expect, test } from 'vitest';
import {
  type CutRemedy,
  cutPlanLines,
  cutPlanOf,
  cutRemedies,
  planHash,
  usualHealMs,
} from './plan.ts';

const planWith = (remedy: CutRemedy, healAfterMs = usualHealMs(remedy)) =>
  cutPlanOf({
    ...{ classes: ['fast'], nodes: ['a', 'b'], way: 'network', remedy, healAfterMs },
    ...{ size: '1Gi', image: 'node:24', volumeMode: 'Filesystem' },
  });

test.each<[CutRemedy, RegExp]>([
  ['force-delete', /the probe force-deletes its pods once/],
  ['out-of-service', /the probe taints it out-of-service once/],
  ['eviction', /Kubernetes evicts its pods .* twelve minutes in all$/m],
])('%s', (remedy, words) => {
  expect(cutPlanLines(planWith(remedy)).join('\n')).toMatch(words);
});

test('an eviction takes longer, and a heal that comes before it is told', () => {
  expect(usualHealMs('eviction')).toBe(900_000);
  const early = cutPlanLines(planWith('eviction', 600_000)).join('\n');
  expect(early).toContain('twelve minutes in all. With stock timers the heal comes earlier');
});

test('each remedy is a plan of its own', () => {
  expect(new Set(cutRemedies.map((remedy) => planHash(planWith(remedy, 600_000)))).size).toBe(3);
});
