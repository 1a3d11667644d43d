/** The model is compared with three real runs here, with all committed ones in research/full/conformance.test.ts. */
import { expect, test } from 'vitest';
import { differencesOf } from '../../research/conformance/judge-differences.ts';
import { compareRun } from '../../research/conformance/run-comparison.ts';

/** A wait, a crash, and the taint. */
const folders = [
  'reports/samples/partition-force-delete-fenced',
  'reports/samples/node-crash',
  'reports/samples/partition-out-of-service',
];
/** Twenty whole runs of the model, the fewest that can be compared with. */
const limit = { timeout: 120_000 };

test.each(folders)('the model differs from %s only where that is listed', limit, async (folder) => {
  const comparison = await compareRun(folder, { runs: 20, seed: 'conformance' });
  expect(comparison.starved).toBe(false);
  expect(comparison.pairs).toBeGreaterThan(50);
  const news = differencesOf(comparison).filter(({ because }) => because === undefined);
  expect(news).toEqual([]);
});
