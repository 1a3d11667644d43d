/** Whole runs of random scenarios on the model. */
import { test } from 'vitest';
import { anyScenarioHolds } from '../property/any-scenario-holds.ts';

test('any scenario ends in time, with a verdict that agrees with itself and with the sweep', () =>
  anyScenarioHolds(2000));
