/** The model is held to the committed real runs: what differs is listed with its reason. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { differencesOf, leastChance, rarityOf } from '../../lib/conformance/judge.ts';
import { predictionPool } from '../../lib/conformance/pool.ts';
import { compareRun } from '../../lib/conformance/run-comparison.ts';

/** The samples, and the runs of schedules that were predicted first (docs/boundary.md). */
const folders = ['reports/samples', 'reports/boundary'].flatMap((parent) =>
  readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(parent, name)),
);
const pool = predictionPool(2);
afterAll(() => pool[Symbol.asyncDispose]());

test('the model differs from real runs only where that is known', {
  timeout: 1_200_000,
}, async () => {
  const comparisons = await Promise.all(
    folders.map((folder) =>
      compareRun(folder, {
        runs: 40,
        seed: 'conformance',
        play: (run) => pool.run(run),
      }),
    ),
  );
  const news = comparisons
    .flatMap(differencesOf)
    .filter(({ because }) => because === undefined)
    .map(({ run, says }) => `${run}: ${says}`);
  expect(news).toEqual([]);
  expect(rarityOf(comparisons).chance).toBeGreaterThanOrEqual(leastChance);
  // Enough was compared to say so.
  const timed = comparisons.filter(({ starved }) => !starved);
  expect(timed.length).toBeGreaterThanOrEqual(15);
  expect(timed.flatMap(({ phases }) => phases).length).toBeGreaterThan(18 * timed.length);
  expect(comparisons.reduce((sum, { pairs }) => sum + pairs, 0)).toBeGreaterThan(3000);
});
