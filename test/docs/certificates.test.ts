/** Published certificates follow from their raw records, and the page lists them; the fixtures stand for a driver. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  driverFilePath,
  driverFileText,
  driverVersions,
  rebuilt,
} from '../../scripts/driver-files.ts';
import { path, renderedPage, rowsOf } from './certificates-page.ts';
import { root } from './pages.ts';

const published = join(root, 'certificates');
const fixtures = join(root, 'test/fixtures/certificates');

const files = [
  { root: fixtures, driver: 'block.acme.example', version: 'dac05a0c7485' },
  ...driverVersions(published).map((file) => ({ root: published, ...file })),
];

test.each(files)('$driver $version: its records give its file', (file) => {
  const { root: folder, driver, version } = file;
  const text = readFileSync(driverFilePath(folder, driver, version), 'utf8');
  // `npx node scripts/certificates.ts` writes it.
  expect(text).toBe(driverFileText(rebuilt(folder, driver, version)));
});

test('docs/reference/certificates.md has every row', async () => {
  await expect(renderedPage(published)).toMatchFileSnapshot(join(root, path));
});

test('a driver has a row for each class and kind of volume, with its answer and its cuts', () => {
  const [{ driver, version } = { driver: '', version: '' }] = files;
  const rows = rowsOf(rebuilt(fixtures, driver, version)).map((cells) => cells.join(' | '));
  expect(rows.length).toBeGreaterThan(5);
  expect(rows.find((row) => row.includes('| basalt, Filesystem |'))).toContain('| **fenced** |');
  expect(rows.find((row) => row.includes('| amber, Filesystem |'))).toContain('both-wrote');
});
