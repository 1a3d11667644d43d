/** The pages that count fault events say what the store says, and each driver has its mode and its source. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allDrivers, driversLike } from '../../lib/storage/drivers.ts';
import { diskModes } from '../../lib/disk-modes/index.ts';
import { countOf } from './count-events.ts';
import { all, defaultRate, only, stock } from '../../lib/expectations/counts.ts';
import { countedOf } from '../../lib/expectations/races.ts';
import { readRuns } from '../../lib/expectations/runs.ts';
import { eventsIn } from '../../lib/experiment/expectation/counted.ts';
import { expectationOf } from '../../lib/experiment/expectation/expectations.ts';
import { parseScenario, safetyLevels } from '../../lib/experiment/scenario.ts';
import { driverTables, path as driversPath } from './drivers-page.ts';
import { findings } from './findings.ts';
import { filled, read, root } from './pages.ts';
import { findingTables, path as resultsPath } from './results-page.ts';

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

test.each(Object.values(findings).flat())('was found: $says', ({ when, any }) => {
  expect(store.some(only(when, any))).toBe(true);
});

const ofOneScenario = Object.values(findings)
  .flat()
  .filter(({ when, any = [] }) => any.length === 0 && !Object.values(when).some(Array.isArray))
  .flatMap(({ says, when }) => {
    const about = { name: 'finding', question: '?', expected: ['safe'] };
    const scenario = parseScenario({ ...about, ...when });
    return expectationOf(scenario).isRace ? [{ says, when, scenario }] : [];
  });

test('there are findings of one scenario', () => expect(ofOneScenario.length).toBeGreaterThan(5));

test.each(ofOneScenario)(
  'a finding counts the events that a run of it is held against: $says',
  ({ when, scenario }) => {
    const fits = all(only(when), stock, defaultRate);
    expect(countOf(store, safetyLevels, fits).of).toBe(eventsIn(countedOf(scenario)));
  },
);

test('what a row does not name is no part of it: a run with more changed does not count', () => {
  const when = { fault: 'network-partition', remedy: 'force-delete', disk: 'unfenced' };
  const line = store.find(only(when));
  if (line === undefined) throw new Error('no such run');
  const more = (extra: object): boolean =>
    only(when)({ ...line, scenario: { ...line.scenario, ...extra } });
  expect(more({ rate: 1, horizonMs: 5 })).toBe(true);
  expect(more({ rate: 0 })).toBe(false);
  expect([{ forceDetach: 'off' }, { selfFence: 'lease' }, { of: 'tomorrow' }].map(more)).toEqual([
    ...[false, false, false],
  ]);
  expect(only(when, ['link'])({ ...line, scenario: { ...line.scenario, link: 'errors' } })).toBe(
    true,
  );
});

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

describe.each(allDrivers())('$name', ({ sources, sure }) => {
  test('nothing is known without a source: a repository, a manual or a page by its title', () => {
    const named = /https:\/\/|"|manual|`|not found|drbd/;
    for (const source of sources) expect(source).toMatch(named);
    if (sources.includes('not found')) expect(sure).toBe('not found');
  });
});

test('the drivers stand in their order, each once', () => {
  const names = allDrivers().map(({ name }) => name.toLowerCase());
  expect(new Set(names).size).toBe(names.length);
  const letters = names.map((name) => name[0] ?? '');
  expect(letters).toEqual(letters.toSorted((a, b) => a.localeCompare(b)));
});
