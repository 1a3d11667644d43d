import { expect, test } from 'vitest';
import { scenarioSchema } from '../scenario/scenario.ts';
import { sparesVictim } from '../scenario/faults/index.ts';
import { sweepKey, scheduleAt } from './schedule.ts';

const sweep = { seed: 'a', key: sweepKey('a'), corpus: [] };
const many = Array.from({ length: 300 }, (_, index) => scheduleAt(sweep, index));

test('every schedule is a valid scenario', () => {
  for (const { scenario } of many) {
    expect(scenarioSchema.safeParse(scenario).error, JSON.stringify(scenario)).toBeUndefined();
  }
});

test('a schedule depends on the seed and its index alone, also where it is a mutant', () => {
  const corpus = many.slice(0, 5).map(({ scenario }) => scenario);
  const steered = { ...sweep, corpus };
  const forwards = Array.from({ length: 50 }, (_, index) => scheduleAt(steered, index));
  const backwards = Array.from({ length: 50 }, (_, index) => scheduleAt(steered, 49 - index));
  expect(backwards.toReversed()).toEqual(forwards);
  expect(forwards).not.toEqual(many.slice(0, 50));
  const other = scheduleAt({ ...sweep, seed: 'b', key: sweepKey('b') }, 0);
  expect(other.scenario).not.toEqual(many[0]?.scenario);
});

test('every schedule has a fault of the victim, also where it is a mutant', () => {
  const corpus = many.slice(0, 20).map(({ scenario }) => scenario);
  const mutants = Array.from({ length: 300 }, (_, index) =>
    scheduleAt({ ...sweep, corpus }, index),
  );
  const faults = new Set([...many, ...mutants].map(({ scenario }) => scenario.fault.kind));
  expect([...faults].filter((fault) => fault === 'none' || sparesVictim(fault))).toEqual([]);
});
