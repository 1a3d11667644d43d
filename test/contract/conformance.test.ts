/** The model is held to the committed real runs: what differs is listed with its reason. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { differencesOf, leastChance, rarityOf } from '../../lib/conformance/judge.ts';
import { predictionPool } from '../../lib/conformance/pool.ts';
import { compareRun } from '../../lib/conformance/run-comparison.ts';

const folder = 'reports/samples';
const names = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const pool = predictionPool(2);
afterAll(() => pool[Symbol.asyncDispose]());

test('the model differs from the samples only where that is known', {
  timeout: 600_000,
}, async () => {
  const comparisons = await Promise.all(
    names.map((name) =>
      compareRun(join(folder, name), {
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
  expect(timed.length).toBeGreaterThanOrEqual(8);
  expect(timed.flatMap(({ phases }) => phases).length).toBeGreaterThan(20 * timed.length);
  expect(comparisons.reduce((sum, { pairs }) => sum + pairs, 0)).toBeGreaterThan(1000);
});
