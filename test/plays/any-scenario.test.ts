/** Whole runs of random scenarios on the model; test:full plays ten times as many. */
import { test } from 'vitest';
import { anyScenarioHolds } from '../property/any-scenario-holds.ts';

// Thirty whole runs.
test(
  'any scenario ends in time, with a verdict that agrees with itself',
  { timeout: 120_000 },
  () => anyScenarioHolds(30),
);
