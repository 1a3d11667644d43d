import { expect, test } from 'vitest';
import { changedFields, hasDefault, plainScenario } from './settle.ts';

test('a copy from another thread differs from its original in no field', () => {
  const copy = structuredClone(plainScenario);
  expect(changedFields(copy)).toEqual([]);
  expect(hasDefault(copy, 'featureGates')).toBe(true);
});

test('a field that was drawn is told', () => {
  const scenario = { ...plainScenario, rate: 2, featureGates: { AllAlpha: true } };
  expect(changedFields(scenario)).toEqual(['rate', 'featureGates'].toSorted(byPlace));
});

const fields = Object.keys(plainScenario);
const byPlace = (a: string, b: string): number => fields.indexOf(a) - fields.indexOf(b);
