/** reports/rules/README.md says of each run what its verdict says, and no evidence is missing in any. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFinishedRun } from '../../lib/seeds/finished-run.ts';

const folder = 'reports/rules';
const page = readFileSync(join(folder, 'README.md'), 'utf8');
const runs = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());

test('six runs', () => expect(runs).toHaveLength(6));

test.each(runs.map(({ name }) => name))('%s', (name) => {
  const run = readFinishedRun(join(folder, name));
  if (run === undefined) throw new Error('it never came to its fault');
  const { verdict, story } = run;
  expect(story.run.schemaVersion).toBe(3);
  expect(verdict).toMatchObject({ complete: true, basis: 'measured' });
  const row = page.split('\n').find((line) => line.startsWith(`| [${name}]`)) ?? '';
  const { phases, exposure, acked, images } = verdict;
  const counts = [acked, ...images.map(({ acked: of }) => of)].filter((count) => count > 0);
  const cells = row.split(' | ');
  expect(cells[1]).toMatch(new RegExp(`^${verdict.verdict}`));
  expect(cells[2]).toBe(`${phases.podRemoved?.toFixed(1)} s`);
  if (phases.secondMount !== null) expect(cells[3]).toBe(`${phases.secondMount.toFixed(1)} s`);
  expect(Number.parseFloat(cells[4] ?? '')).toBeCloseTo(exposure.ms / 1000, 1);
  expect(counts.map((count) => count.toLocaleString('en'))).toContain(
    /[\d,]{3,}/.exec(cells[5] ?? '')?.[0],
  );
});
