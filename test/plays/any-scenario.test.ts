/** Whole runs of random scenarios on the model; test:full plays twenty times as many. */
import { test } from 'vitest';
import { anyScenarioHolds } from '../property/any-scenario-holds.ts';

// A hundred whole runs, and as many plays of each as it takes.
test(
  'any scenario ends in time, with a verdict that agrees with itself and with the sweep',
  { timeout: 240_000 },
  () => anyScenarioHolds(100),
);
