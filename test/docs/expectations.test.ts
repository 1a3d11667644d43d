/** The expectations: complete, at one with the rules that judge runs, and beside what was measured. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { diskModes } from '../../lib/scenario/disks/index.ts';
import { isOpen, expectationOf } from '../../lib/judge/expectation/expectations.ts';
import { safetyLevels } from '../../lib/scenario/scenario.ts';
import { readRuns, scenarioOfLine, cellKey, expectationFor } from '../../lib/batch/measurements.ts';
import { expectedCellsOf, readTable } from '../support/expected-cells.ts';

const table = readTable();
const cells = expectedCellsOf(table);
const decided = new Set(
  table.differences.flatMap(({ id, disks }) => disks.map((disk) => `${id} ${disk}`)),
);

test('every fault has every remedy, and every one of them each disk', () => {
  const remedies = ['none', 'force-delete', 'out-of-service', 'delete-node', 'drain'];
  expect(table.faults.length).toBeGreaterThanOrEqual(10);
  for (const fault of table.faults) {
    expect(fault.cells.map(({ remedy }) => remedy)).toEqual(remedies);
    for (const remedy of remedies) {
      const found = cells.filter(({ id }) => id === `${fault.id}/${remedy}`);
      expect(found.map(({ disk }) => disk)).toEqual(diskModes);
    }
  }
});

test('what cannot be run contradicts itself or says why', () => {
  const silent = cells
    .filter(({ scenario, id, disk }) => {
      // A crash takes nothing from a shared directory: contradictions.ts.
      const isCrash = disk === 'shared-file' && /^(power-off|reboot)/.test(id);
      const said = table.exceptions.find((each) => each.id === id)?.notRunnable;
      return scenario === undefined && !isCrash && said === undefined;
    })
    .map(({ id, disk }) => `${id} ${disk}`);
  expect(silent).toEqual([]);
});

test('the rules that judge runs say the same, or the difference was decided; a race may be wider', () => {
  const differing = cells
    .filter(({ scenario, verdicts }) => {
      if (scenario === undefined) return false;
      const { verdicts: allowed, isRace } = expectationOf(scenario);
      const isTold = verdicts.every((verdict) => allowed.includes(verdict));
      return !isTold || (!isRace && allowed.length !== verdicts.length);
    })
    .map(({ id, disk }) => `${id} ${disk}`);
  expect(differing.filter((each) => !decided.has(each))).toEqual([]);
});

test('no cell expects all four words: one that could come to anything is open', () => {
  const all = cells.flatMap(({ scenario, id, disk }) => {
    if (scenario === undefined) return [];
    const held = expectationFor(scenario);
    const isAll = safetyLevels.every((level) => held.expected.includes(level));
    return isAll && !isOpen(held) ? [`${id} ${disk}`] : [];
  });
  expect(all).toEqual([]);
});

test('what was measured was expected, or the difference was decided', () => {
  const surprises = readRuns().flatMap((line) => {
    const scenario = scenarioOfLine(line);
    const cell = cells.find(
      (each) => each.scenario && cellKey(each.scenario) === cellKey(scenario),
    );
    const allowed = expectationOf(scenario).verdicts;
    const { verdict } = line.outcome;
    return verdict === 'inconclusive' || allowed.includes(verdict)
      ? []
      : [`${cell?.id ?? line.id} ${cell?.disk ?? ''}`];
  });
  expect(surprises.filter((each) => !decided.has(each))).toEqual([]);
});

test('each decision is written down', () => {
  for (const { decision } of table.differences) {
    expect(existsSync(join('docs', decision))).toBe(true);
  }
});
