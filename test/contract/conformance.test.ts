/** The model is held to the committed real runs: what differs is listed with its reason. */
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  differencesOf,
  leastChance,
  rarityOf,
  type RunComparison,
} from '../../research/conformance/judge-differences.ts';
import {
  predictionPool,
  type ModelRun,
  type PredictedRun,
} from '../../research/conformance/predict.ts';
import { compareRun } from '../../research/conformance/run-comparison.ts';
import { committedNames } from '../support/committed.ts';

/** The samples, and the runs of schedules that were predicted first (docs/results/boundary.md). */
const folders = ['reports/samples', 'reports/boundary'].flatMap((parent) =>
  committedNames(parent).map((name) => join(parent, name)),
);
const pool = predictionPool(2);
afterAll(() => pool[Symbol.asyncDispose]());

const play = (run: ModelRun): Promise<PredictedRun> => pool.run(run);
const compared = async (folder: string): Promise<RunComparison> =>
  compareRun(folder, { runs: 40, seed: 'conformance', play });

describe('the model', () => {
  const comparisons: RunComparison[] = [];

  test.each(folders)('differs from %s only where that is known', async (folder) => {
    const comparison = await compared(folder);
    comparisons.push(comparison);
    const news = differencesOf(comparison).filter(({ because }) => because === undefined);
    expect(news).toEqual([]);
  });

  test('was compared with enough, and what is known is not too rare', () => {
    expect(comparisons).toHaveLength(folders.length);
    expect(rarityOf(comparisons).chance).toBeGreaterThanOrEqual(leastChance);
    const timed = comparisons.filter(({ starved }) => !starved);
    expect(timed.length).toBeGreaterThanOrEqual(15);
    expect(timed.flatMap(({ phases }) => phases).length).toBeGreaterThan(18 * timed.length);
    expect(comparisons.reduce((sum, { pairs }) => sum + pairs, 0)).toBeGreaterThan(3000);
  });
});

/** Of the batches, those that showed the two causes that were no load; test:full has all of them. */
const cells = [
  'default/cells/03-cut-off-force-delete-ack-early.1',
  'default-short/cells/02-cut-off-force-delete-fenced.alone',
  'default-short/cells/07-cut-off-force-delete-fence-if-out-of-service.1',
  'default-short/cells/09-cut-off-out-of-service-unfenced.alone',
].map((cell) => join('reports/matrix', cell));

test('runs of batches differ only by load that they recorded, races at their own pace', async () => {
  const comparisons = await Promise.all(cells.map(compared));
  const differences = comparisons.flatMap(differencesOf);
  expect(differences.filter(({ because }) => because === undefined)).toEqual([]);
  const [ackEarly, quiet] = comparisons;
  expect(ackEarly?.load.volumes).toBe(8);
  expect(ackEarly?.modelVerdicts.exposed).toBeUndefined();
  expect(ackEarly?.atItsPace?.words.exposed).toBeGreaterThan(4);
  expect(ackEarly?.atItsPace?.words.lost).toBeGreaterThan(4);
  // Without load nothing had to be excused.
  expect(differences.filter(({ run }) => run === quiet?.run)).toEqual([]);
});
