/** Every committed run of a batch beside the model: what differs is listed, or load that it recorded. */
import { afterAll, expect, test } from 'vitest';
import { differencesOf, leastChance, rarityOf } from '../conformance/judge-differences.ts';
import { busyBecause } from '../conformance/load.ts';
import { predictionPool } from '../conformance/predict.ts';
import { compareRun } from '../conformance/run-comparison.ts';
import { committedWith } from '../../test/support/committed.ts';

const batches = 'reports/matrix';
const runs = committedWith('history/run.hist', batches);
const pool = predictionPool(2);
afterAll(() => pool[Symbol.asyncDispose]());

test('the model differs from the runs of batches only where that is known', {
  timeout: 3_600_000,
}, async () => {
  expect(runs.length).toBeGreaterThan(66);
  const comparisons = await Promise.all(
    runs.map((folder) =>
      compareRun(folder, { runs: 40, seed: 'conformance', play: (run) => pool.run(run) }),
    ),
  );
  const news = comparisons
    .flatMap(differencesOf)
    .filter(({ because }) => because === undefined)
    .map(({ run, says }) => `${run}: ${says}`);
  expect(news).toEqual([]);
  // Rare is only what a machine without load had.
  const calm = comparisons.filter(({ load }) => busyBecause(load) === undefined);
  expect(rarityOf(calm).chance).toBeGreaterThanOrEqual(leastChance);
});
