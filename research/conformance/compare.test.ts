import { expect, test } from 'vitest';
import { compare } from './compare.ts';
import { differencesOf, rarityOf, type RunComparison } from './judge-differences.ts';
import { reasonFor } from './listed.ts';
import type { MilestoneTimes, TimedName } from './milestone-times.ts';

const times = (known: Partial<Record<TimedName, number>>): MilestoneTimes =>
  new Map(Object.entries(known) as [TimedName, number][]);

const quiet = { worstLagMs: 5, cpuPressure: 40, ioPressure: 10, volumes: 1 };

/** Twenty runs: NotReady after 40 to 59 s, the taint 0.05 s later, eviction 300 s after it. */
const model = Array.from({ length: 20 }, (_, index) => {
  const notReady = (40 + index) * 1000;
  const noExecute = notReady + 50;
  return times({
    struck: 0,
    'not-ready': notReady,
    'no-execute': noExecute,
    evicted: noExecute + 300_000,
  });
});
const fitOf = (real: MilestoneTimes, phase: string): string | undefined =>
  compare(real, model).phases.find((each) => each.phase === phase)?.fit;

test('a constant may be off by half a second, not by more', () => {
  const evicted = (atMs: number): MilestoneTimes => times({ 'no-execute': 50_000, evicted: atMs });
  expect(fitOf(evicted(350_400), 'no-execute → evicted')).toBe('fits');
  expect(fitOf(evicted(350_600), 'no-execute → evicted')).toBe('differs');
  expect(fitOf(evicted(349_400), 'no-execute → evicted')).toBe('differs');
});

test('a random phase lies within nine in ten runs, is rare, or differs', () => {
  const notReady = (atMs: number): MilestoneTimes => times({ struck: 0, 'not-ready': atMs });
  expect(fitOf(notReady(50_000), 'struck → not-ready')).toBe('fits');
  expect(fitOf(notReady(40_100), 'struck → not-ready')).toBe('rare');
  expect(fitOf(notReady(38_500), 'struck → not-ready')).toBe('rare');
  expect(fitOf(notReady(34_000), 'struck → not-ready')).toBe('differs');
});

test('an order that no run of the model has is told, one within the witnesses’ delay is not', () => {
  const orders = (evictedMs: number): unknown =>
    compare(times({ 'no-execute': 50_000, evicted: evictedMs }), model).orders;
  expect(orders(49_000)).toEqual([{ first: 'evicted', second: 'no-execute', realGapS: 1 }]);
  expect(orders(49_900)).toEqual([]);
});

test('a milestone that one side alone has is told', () => {
  const { milestones: found } = compare(times({ struck: 0, ready: 1 }), model);
  expect(found).toContainEqual({ milestone: 'ready', onlyIn: 'real' });
  expect(found).toContainEqual({ milestone: 'evicted', onlyIn: 'model' });
});

test('a verdict that the model never gives is a difference; a listed one has its reason', () => {
  const comparison: RunComparison = {
    ...compare(times({ struck: 0 }), [times({ struck: 0 })]),
    ...{ run: 'a-run', scenario: '', realVerdict: 'corrupt', modelVerdicts: { lost: 1 } },
    ...{ modelRuns: 1, starved: false, load: quiet },
  };
  expect(differencesOf(comparison).map(({ what }) => what)).toContain('verdict corrupt');
  const listed = [{ what: 'verdict corrupt', runs: ['a-run'], toS: 2, why: 'because' }];
  const difference = { what: 'verdict corrupt', run: 'a-run' };
  expect(reasonFor(difference, listed)).toBe('because');
  expect(reasonFor({ ...difference, run: 'another' }, listed)).toBeUndefined();
  expect(reasonFor({ ...difference, realS: 3 }, listed)).toBeUndefined();
});

test('one rare phase in ten is chance, half of them are not; few runs of the model tell less', () => {
  const comparison = (rare: number, modelRuns = 40): Parameters<typeof rarityOf>[0][number] => ({
    modelRuns,
    phases: Array.from({ length: 20 }, (_, index) => ({
      ...{ phase: 'p', is: '', realS: 1, model: { from: 0, median: 1, to: 2 }, constant: false },
      fit: index < rare ? 'rare' : 'fits',
    })),
  });
  expect(rarityOf([comparison(2)]).chance).toBeGreaterThan(0.5);
  expect(rarityOf([comparison(10)]).chance).toBeLessThan(0.001);
  expect(rarityOf([comparison(6, 9999)]).chance).toBeCloseTo(0.011, 3);
  expect(rarityOf([comparison(6)]).chance).toBeGreaterThan(0.05);
});
