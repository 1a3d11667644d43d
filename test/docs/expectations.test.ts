/** The expectations: complete, at one with the rules that judge runs, and beside what was measured. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { diskModes } from '../../lib/disk-kinds.ts';
import { expectationOf } from '../../lib/experiment/expectations.ts';
import { measuredBelow, readMeasured } from '../../lib/expectations/measured.ts';
import { pagePath, renderPage } from '../../lib/expectations/page.ts';
import { cellsOf, readTable } from '../../lib/expectations/table.ts';

const table = readTable();
const cells = cellsOf(table);
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

test('the rules that judge runs say the same, or the difference was decided', () => {
  const differing = cells
    .filter(({ scenario, verdicts }) => {
      if (scenario === undefined) return false;
      return (
        [...expectationOf(scenario).verdicts].toSorted().join() !== [...verdicts].toSorted().join()
      );
    })
    .map(({ id, disk }) => `${id} ${disk}`);
  expect(differing.filter((each) => !decided.has(each))).toEqual([]);
});

test('what was measured was expected, or the difference was decided', () => {
  const surprises = readMeasured().filter(({ id, disk, verdict }) => {
    const cell = cells.find((each) => each.id === id && each.disk === disk);
    return verdict !== 'inconclusive' && cell?.verdicts.includes(verdict) !== true;
  });
  expect(surprises.filter(({ id, disk }) => !decided.has(`${id} ${disk}`))).toEqual([]);
});

test('each decision is written down', () => {
  for (const { decision } of table.differences) {
    expect(existsSync(join('docs', decision))).toBe(true);
  }
});

test('the committed samples are among the results', () => {
  const found = measuredBelow('reports/samples', cells);
  expect(found.length).toBeGreaterThanOrEqual(5);
  const noted = readMeasured();
  for (const each of found) expect(noted).toContainEqual(each);
});

test('docs/expectations.md says what the data say', () => {
  expect(readFileSync(pagePath, 'utf8')).toBe(renderPage(table, readMeasured()));
});
