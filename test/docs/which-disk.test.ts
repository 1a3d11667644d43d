/** docs/which-disk-is-mine.md and lib/disk-drivers.ts name the same drivers under the same modes. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { driversByMode } from '../../lib/disk-drivers.ts';
import { diskModes } from '../../lib/disk-kinds.ts';

const page = readFileSync(new URL('../../docs/which-disk-is-mine.md', import.meta.url), 'utf8');
const sections = page
  .split(/^## /m)
  .slice(1)
  .map((text) => ({ title: text.split('\n')[0] ?? '', rows: rowsOf(text) }));

/** Cells of a table's rows, without its head. */
function rowsOf(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.slice(2, -2).split(' | '));
}

const sectionOf = (mode: string): string[][] =>
  sections.find(({ title }) => title === `\`${mode}\``)?.rows ?? [];

test('there is a section for each mode, in their order', () => {
  const titles = sections.map(({ title }) => title).filter((title) => title.startsWith('`'));
  expect(titles).toEqual(diskModes.map((mode) => `\`${mode}\``));
});

describe.each(diskModes)('%s', (mode) => {
  test('lists the drivers that the report names', () => {
    const names = sectionOf(mode).map(([name]) => name);
    expect(names).toEqual(driversByMode[mode].map(({ name }) => name));
    expect(names.length).toBeGreaterThan(0);
  });

  test('says of each how sure that is, and from where', () => {
    for (const row of sectionOf(mode)) {
      expect(row).toHaveLength(6);
      const [name, , , , confidence = '', source = ''] = row;
      expect(confidence, name).toMatch(/^(source|documented|reported|unknown)\b/);
      // Nothing is known without a source: a repository, a manual or a page by its title.
      expect(source, name).toMatch(/https:\/\/github\.com\/|manual|the same/);
    }
  });
});

test('a driver that fits no mode is in no mode’s list', () => {
  const unfit = sections.find(({ title }) => title === 'No mode fits')?.rows ?? [];
  const listed = new Set(
    Object.values(driversByMode).flatMap((drivers) => drivers.map((d) => d.name)),
  );
  expect(unfit.length).toBeGreaterThan(0);
  for (const [name = ''] of unfit) expect(listed).not.toContain(name);
});
