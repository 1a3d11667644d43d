/**
 * Every mode of disk, link, access mode, file system and loss of power on a real kind cluster, each
 * held against its expected verdict. What was measured goes to docs/disk-modes.json, from which the
 * table in docs/disk-modes.md is made. FORCEDETACH_CASES=name,name runs some only;
 * FORCEDETACH_CLUSTER=name uses another cluster, which stays.
 */
import { afterAll, expect, test } from 'vitest';
import { $ } from 'zx';
import { expectCase, runCase } from './mode-run.ts';
import { machineState } from '../cluster/machine-state.ts';
import { diskModeCases } from './disk-mode-cases.ts';
import { diskModesPage } from './disk-modes-page.ts';
import { measuredIn } from './measured-page.ts';

const givenCluster = process.env['FORCEDETACH_CLUSTER'];
const clusterName = givenCluster ?? 'modes';
const runMs = 15 * 60_000;
/** A cold image build may come first. */
const firstRunMs = 40 * 60_000;
const wanted = process.env['FORCEDETACH_CASES']?.split(',');
const cases = diskModeCases.filter(({ name }) => wanted?.includes(name) ?? true);

const before = await machineState();
afterAll(() => diskModesPage.write());

test.each(cases)('$name', { timeout: firstRunMs }, async (one) => {
  const result = await runCase(one, clusterName);
  if (result.verdict !== undefined) diskModesPage.note(measuredIn(one, result.verdict));
  const { findings, exposure } = expectCase(one, result);
  if (one.name === 'pending-while-busy') {
    expect(findings.map(({ code }) => code)).toContain('CALLS_REFUSED');
  }
  if (one.name === 'shared-file') expect(exposure.ms).toBe(0);
});

test.skipIf(givenCluster !== undefined)('nothing is left behind', { timeout: runMs }, async () => {
  await $({
    quiet: true,
  })`node_modules/.bin/zx experiments/clean.mjs --all --cluster-name ${clusterName}`;
  expect(await machineState()).toEqual(before);
});
