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
import { committedNames, corpusNames, corpusRun } from '../../test/support/committed.ts';

const pool = predictionPool(2);
afterAll(() => pool[Symbol.asyncDispose]());

const compared = (folder: string): Promise<RunComparison> =>
  compareRun(folder, { runs: 40, seed: 'conformance', play: (run) => pool.run(run) });

const news = (comparisons: readonly RunComparison[]): string[] =>
  comparisons
    .flatMap(differencesOf)
    .filter(({ because }) => because === undefined)
    .map(({ run, says }) => `${run}: ${says}`);

const samples = committedNames('reports/samples').map((name) => join('reports/samples', name));
/** One proves nothing: its fault never came. */
const corpus = corpusNames('runs').filter((name) => !name.startsWith('inconclusive'));
const runs = [...samples, ...corpus.map(corpusRun)];

describe('real runs', () => {
  const comparisons: RunComparison[] = [];

  test.each(runs)('the model differs from %s only where that is listed', async (folder) => {
    const comparison = await compared(folder);
    comparisons.push(comparison);
    expect(news([comparison])).toEqual([]);
  });

  test('enough was compared, and what is listed is not too rare', () => {
    expect(comparisons).toHaveLength(runs.length);
    // Rare is only what a machine without load had.
    const calm = comparisons.filter(({ load }) => busyBecause(load) === undefined);
    expect(rarityOf(calm).chance).toBeGreaterThanOrEqual(leastChance);
    const timed = comparisons.filter(({ starved }) => !starved);
    expect(timed.length).toBeGreaterThanOrEqual(15);
    expect(timed.flatMap(({ phases }) => phases).length).toBeGreaterThan(18 * timed.length);
    expect(comparisons.reduce((sum, { pairs }) => sum + pairs, 0)).toBeGreaterThan(3000);
  });
});

test('a race is compared at the pace that its run had', async () => {
  const folder = corpusRun('eight-volumes-ack-early');
  const { load, modelVerdicts, atItsPace } = await compared(folder);
  expect(load.volumes).toBe(8);
  expect(modelVerdicts.exposed).toBeUndefined();
  expect(atItsPace?.words.exposed).toBeGreaterThan(4);
  expect(atItsPace?.words.lost).toBeGreaterThan(4);
});
