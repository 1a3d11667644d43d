/** The pages that count fault events say what the store says, and each driver has its mode and its source. */
import { settingsFrom } from '../../lib/scenario/fields.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { driversLike } from '../../lib/scenario/disks/drivers.ts';
import { diskModes } from '../../lib/scenario/disks/index.ts';
import { countOf } from './count-events.ts';
import { all, defaultRate, only, stock } from '../../lib/batch/counted.ts';
import { countedOf, ofThisJudge, readRuns } from '../../lib/batch/measurements.ts';
import { eventsIn, expectationOf } from '../../lib/judge/expectation/expectations.ts';
import { parseScenario, safetyLevels } from '../../lib/scenario/scenario.ts';
import { driverTables, path as driversPath } from './drivers-page.ts';
import { departures, findings } from './findings.ts';
import { filled, read, root } from './pages.ts';
import { remediationTable } from './remediators-page.ts';
import {
  departuresPath,
  departuresTable,
  findingTables,
  path as resultsPath,
} from './results-page.ts';

const store = readRuns();

// Mend either by: npx vitest run -u --project unit test/docs
test('docs/reference/drivers.md is made from drivers.yaml and the store', async () => {
  const page = filled(read(driversPath), driverTables(store));
  await expect(page).toMatchFileSnapshot(join(root, driversPath));
});

test('docs/results/README.md is made from the store', async () => {
  const page = filled(read(resultsPath), { findings: findingTables(store) });
  await expect(page).toMatchFileSnapshot(join(root, resultsPath));
});

test('docs/results/departures.md is made from the store', async () => {
  const page = filled(read(departuresPath), {
    departures: departuresTable(store),
    remediation: remediationTable(store),
  });
  await expect(page).toMatchFileSnapshot(join(root, departuresPath));
});

const published = [...Object.values(findings).flat(), ...departures];

test.each(published)('was found: $says', ({ when, any }) => {
  expect(store.some(all(ofThisJudge, only(when, any)))).toBe(true);
});

const ofOneScenario = published
  .filter(({ when, any = [] }) => any.length === 0 && !Object.values(when).some(Array.isArray))
  .flatMap(({ says, when }) => {
    const about = { name: 'finding', question: '?', expected: ['safe'] } as const;
    const settings = settingsFrom(Object.entries(when));
    const scenario = parseScenario({ ...about, fault: { kind: 'none' }, ...settings });
    return expectationOf(scenario).isRace ? [{ says, when, scenario }] : [];
  });

test.each(ofOneScenario)(
  'a finding counts the events that a run of it is held against: $says',
  ({ when, scenario }) => {
    const fits = all(only(when), stock, defaultRate);
    const lines = store.filter(all(ofThisJudge, fits));
    expect(countOf(lines, safetyLevels, fits).of).toBe(eventsIn(countedOf(scenario)));
  },
);

test('cells of two batches are two events though their names agree, volumes of one event are one', () => {
  const [line] = store;
  if (line === undefined) throw new Error('no run');
  const { count, of } = countOf(
    [line, { ...line, id: 'b' }, { ...line, id: 'c', date: '2027-01-01T00:00:00.000Z' }],
    [line.outcome.verdict],
    () => true,
  );
  expect([count, of]).toEqual([2, 2]);
});

test.each(diskModes)('%s has drivers that are said to behave so', (mode) => {
  expect(driversLike(mode).length).toBeGreaterThan(0);
  const page = readFileSync('docs/explanation/disk-modes.md', 'utf8');
  expect(page).toContain(`## \`${mode}\`\n`);
});
