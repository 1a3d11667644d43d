/** The model is held to every committed real run: what differs is listed with its reason, or load that the run recorded. */
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  differencesOf,
  leastChance,
  rarityOf,
  type RunComparison,
} from '../conformance/judge-differences.ts';
import { busyBecause } from '../conformance/load.ts';
import { predictionPool } from '../conformance/predict.ts';
import { compareRun } from '../conformance/run-comparison.ts';
import { committedNames, committedWith } from '../../test/support/committed.ts';

const pool = predictionPool(2);
afterAll(() => pool[Symbol.asyncDispose]());

const compared = (folder: string): Promise<RunComparison> =>
  compareRun(folder, { runs: 40, seed: 'conformance', play: (run) => pool.run(run) });

const news = (comparisons: readonly RunComparison[]): string[] =>
  comparisons
    .flatMap(differencesOf)
    .filter(({ because }) => because === undefined)
    .map(({ run, says }) => `${run}: ${says}`);

/** The samples, and the runs of schedules that were predicted first (docs/results/boundary.md). */
const alone = ['reports/samples', 'reports/boundary'].flatMap((parent) =>
  committedNames(parent).map((name) => join(parent, name)),
);

describe('runs of one volume', () => {
  const comparisons: RunComparison[] = [];

  test.each(alone)('the model differs from %s only where that is listed', async (folder) => {
    const comparison = await compared(folder);
    comparisons.push(comparison);
    expect(news([comparison])).toEqual([]);
  });

  test('enough was compared, and what is listed is not too rare', () => {
    expect(comparisons).toHaveLength(alone.length);
    expect(rarityOf(comparisons).chance).toBeGreaterThanOrEqual(leastChance);
    const timed = comparisons.filter(({ starved }) => !starved);
    expect(timed.length).toBeGreaterThanOrEqual(15);
    expect(timed.flatMap(({ phases }) => phases).length).toBeGreaterThan(18 * timed.length);
    expect(comparisons.reduce((sum, { pairs }) => sum + pairs, 0)).toBeGreaterThan(3000);
  });
});

const inBatches = committedWith('history/run.hist', 'reports/matrix');

test('the model differs from the runs of batches only where that is listed', async () => {
  expect(inBatches.length).toBeGreaterThan(66);
  const comparisons = await Promise.all(inBatches.map(compared));
  expect(news(comparisons)).toEqual([]);
  // Rare is only what a machine without load had.
  const calm = comparisons.filter(({ load }) => busyBecause(load) === undefined);
  expect(rarityOf(calm).chance).toBeGreaterThanOrEqual(leastChance);
});

test('a race is compared at the pace that its run had', async () => {
  const cells = join('reports/matrix', 'default/cells/03-cut-off-force-delete-ack-early.1');
  const { load, modelVerdicts, atItsPace } = await compared(cells);
  expect(load.volumes).toBe(8);
  expect(modelVerdicts.exposed).toBeUndefined();
  expect(atItsPace?.words.exposed).toBeGreaterThan(4);
  expect(atItsPace?.words.lost).toBeGreaterThan(4);
});
