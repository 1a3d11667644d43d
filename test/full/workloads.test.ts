/**
 * Workloads, self-fencing and further moves on a real kind cluster, each held against its expected
 * verdict. What was measured goes to docs/workloads.json, from which the table in docs/workloads.md is made.
 * FORCEDETACH_CASES=name,name runs some only.
 */
import { afterAll, expect, test } from 'vitest';
import { $ } from 'zx';
import { machineState } from '../cluster/machine-state.ts';
import { expectCase, runCase } from './mode-run.ts';
import { measuredIn } from './measured-page.ts';
import { workloadsPage } from './workloads-page.ts';
import { workloadCases } from './workload-cases.ts';

const clusterName = 'workloads';
const runMs = 15 * 60_000;
/** A cold image build may come first. */
const firstRunMs = 40 * 60_000;
const wanted = process.env['FORCEDETACH_CASES']?.split(',');
const cases = workloadCases.filter(({ name }) => wanted?.includes(name) ?? true);

const before = await machineState();
afterAll(() => workloadsPage.write());

test.each(cases)('$name', { timeout: firstRunMs }, async (one) => {
  const result = await runCase(one, clusterName);
  if (result.verdict !== undefined) workloadsPage.note(measuredIn(one, result.verdict));
  expectCase(one, result);
});

test('nothing is left behind', { timeout: runMs }, async () => {
  await $({
    quiet: true,
  })`node_modules/.bin/zx experiments/clean.mjs --all --cluster-name ${clusterName}`;
  expect(await machineState()).toEqual(before);
});
