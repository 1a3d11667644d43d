import { expect, test } from 'vitest';
import { differencesOf, type RunComparison } from './judge-differences.ts';
import { busyBecause, lateBecause, swappedBecause } from './load.ts';

const quiet = { worstLagMs: 5, cpuPressure: 40, ioPressure: 10, volumes: 1 };
const busy = { ...quiet, ioPressure: 50 };
const shared = { ...quiet, volumes: 8 };
const late = { phase: 'stage-begun → staged', realS: 6.8, model: { to: 0.6 } };

test('a busy machine explains work that took longer, a quiet one nothing', () => {
  expect(lateBecause(late, busy)).toContain('for the disk 50 %');
  expect(lateBecause(late, shared)).toContain('8 volumes');
  expect(lateBecause(late, quiet)).toBeUndefined();
});

test('load explains no timer, nothing that came too soon, and not any length', () => {
  expect(lateBecause({ ...late, phase: 'no-execute → evicted' }, busy)).toBeUndefined();
  expect(lateBecause({ ...late, phase: 'pod-gone → unlisted' }, busy)).toBeUndefined();
  expect(lateBecause({ ...late, realS: 0.1 }, busy)).toBeUndefined();
  expect(lateBecause({ ...late, realS: 11 }, busy)).toBeUndefined();
});

test('a busy machine explains two steps in the other order where a watch was late, and no more', () => {
  expect(swappedBecause(0.2, busy)).toContain('for the disk 50 %');
  expect(swappedBecause(0.2, quiet)).toBeUndefined();
  expect(swappedBecause(0.4, busy)).toBeUndefined();
});

const comparison: RunComparison = {
  ...{ phases: [], orders: [], milestones: [], pairs: 0, run: 'a-run', scenario: '' },
  ...{ modelRuns: 40, starved: false, realVerdict: 'exposed', modelVerdicts: { lost: 40 } },
  load: busy,
};
const paced = { handOverS: 9.4, usualS: 1.8, cutAfterMs: 2400 };
const reasons = (more: Partial<RunComparison>): readonly (string | undefined)[] =>
  differencesOf({ ...comparison, ...more }).map(({ because }) => because);

test('a word that the model lacks is load only where the model has it at the run’s own pace', () => {
  expect(reasons({})).toEqual([undefined]);
  expect(reasons({ atItsPace: { ...paced, words: { lost: 40 } } })).toEqual([undefined]);
  const [because] = reasons({ atItsPace: { ...paced, words: { lost: 26, exposed: 14 } } });
  expect(because).toContain('load');
  expect(because).toContain('lost 26, exposed 14');
  const ofQuiet = { load: quiet, atItsPace: { ...paced, words: { exposed: 14 } } };
  expect(reasons(ofQuiet)).toEqual([undefined]);
});

test('neither one volume nor the pressure of the samples is load', () => {
  expect(busyBecause({ ...quiet, ioPressure: 33 })).toBeUndefined();
  expect(busyBecause({ ...quiet, ioPressure: 34 })).toBeDefined();
});
