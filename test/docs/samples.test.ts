/** reports/samples/README.md says of each run what its verdict says; each has the evidence of today. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFinishedRun } from '../../research/claims/recorded-run.ts';
import { committedNames } from '../support/committed.ts';

const folder = 'reports/samples';
const page = readFileSync(join(folder, 'README.md'), 'utf8');

const inSeconds = (s: number): string => `${s.toFixed(1)} s`;

test.each(committedNames(folder))('%s', (name) => {
  const run = readFinishedRun(join(folder, name));
  if (run === undefined) throw new Error('it never came to its fault');
  const { verdict, story } = run;
  expect(story.run.schemaVersion).toBe(4);
  const row = page.split('\n').find((line) => line.startsWith(`| [${name}]`)) ?? '';
  const { phases, exposure, acked, images } = verdict;
  const cells = row.split(' | ');
  expect(cells[1]).toMatch(new RegExp(`^${verdict.verdict}`));
  if (phases.podRemoved === null) expect(cells[2]).toBe('never');
  else expect(cells[2]).toMatch(new RegExp(`^${inSeconds(phases.podRemoved)}`));
  if (phases.secondMount === null) expect(cells[3]).toMatch(/^(none|refused)/);
  else expect(cells[3]).toMatch(new RegExp(`^${inSeconds(phases.secondMount)}`));
  expect(Number.parseFloat(cells[4] ?? '')).toBeCloseTo(exposure.ms / 1000, 1);
  const counts = [acked, ...images.map(({ acked: of }) => of)].filter((count) => count > 0);
  expect(counts.map((count) => count.toLocaleString('en'))).toContain(
    /[\d,]{3,}/.exec(cells[5] ?? '')?.[0],
  );
});
