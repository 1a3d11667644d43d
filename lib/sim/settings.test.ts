/** Timers of the model: stock ones are the version's, shortened ones are what kind makes of them. */
import { expect, test } from 'vitest';
import { modelScenario } from '../../test/support/model-run.ts';
import { clusterSettingsOf, timersOf } from './world.ts';

test.each([
  ['1.31', 40_000],
  ['1.37', 50_000],
])('%s: a stock grace period of %i ms leaves the rest stock', (kubernetes, graceMs) => {
  const scenario = modelScenario({ kubernetes: { version: kubernetes } });
  expect(timersOf(scenario)).toMatchObject({
    nodeMonitorGraceMs: graceMs,
    nodeMonitorPeriodMs: 5_000,
    kubeletLeaseMs: 40_000,
    kubeletStatusMs: 10_000,
  });
  expect(clusterSettingsOf(scenario)).toMatchObject({
    graceUs: graceMs * 1000,
    nodeMonitorUs: 5_000_000,
    leaseRenewUs: 10_000_000,
    statusUpdateUs: 10_000_000,
  });
});

test.each([
  ['1.28', false],
  ['1.28.3', false],
  ['1.28.4', true],
  ['1.29', true],
])('%s: after a detach that failed another node may attach: %s', (kubernetes, lets) => {
  expect(
    clusterSettingsOf(modelScenario({ kubernetes: { version: kubernetes } })).traits
      .uncertainAfterError,
  ).toBe(lets);
});
