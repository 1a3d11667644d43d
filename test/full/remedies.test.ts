/**
 * Every remedy and its options on a real kind cluster, each held against its expected verdict. What
 * was measured goes to docs/remedies.json, from which the table in docs/remedies.md is made.
 * FORCEDETACH_CASES=name,name runs some only.
 */
import { afterAll, expect, test } from 'vitest';
import { $ } from 'zx';
import { machineState } from '../cluster/machine-state.ts';
import { expectCase, runCase } from './mode-run.ts';
import { measuredIn } from './measured-page.ts';
import { remediesPage } from './remedies-page.ts';
import { remedyCases } from './remedy-cases.ts';

const clusterName = 'remedies';
const runMs = 15 * 60_000;
/** A cold image build may come first. */
const firstRunMs = 40 * 60_000;
const wanted = process.env['FORCEDETACH_CASES']?.split(',');
const cases = remedyCases.filter(({ name }) => wanted?.includes(name) ?? true);

const before = await machineState();
afterAll(() => remediesPage.write());

test.each(cases)('$name', { timeout: firstRunMs }, async (one) => {
  const result = await runCase(one, clusterName);
  if (result.verdict !== undefined) remediesPage.note(measuredIn(one, result.verdict));
  expectCase(one, result);
});

test('nothing is left behind', { timeout: runMs }, async () => {
  await $({
    quiet: true,
  })`node_modules/.bin/zx experiments/clean.mjs --all --cluster-name ${clusterName}`;
  expect(await machineState()).toEqual(before);
});
