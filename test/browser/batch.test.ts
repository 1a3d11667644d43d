/** The page of a batch in a real browser: sorted, filtered, compared, and legible on a phone. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { batchSchema } from '../../lib/batch/batch.ts';
import { exampleCell } from '../support/example-cell.ts';
import { renderBatchHtml } from '../../lib/report/batch/html.ts';
import { chromiumPath, openingPages, seriousProblems, type Opened } from './chromium.ts';

const batch = batchSchema.parse(
  JSON.parse(readFileSync('reports/matrix/default/batch.json', 'utf8')),
);

describe.skipIf(chromiumPath === undefined)('a batch’s page in Chromium', () => {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-batch-'));
  const chromium = openingPages(folder);
  afterAll(() => rmSync(folder, { recursive: true }));

  const open = async (options: BrowserContextOptions = {}, shown = batch): Promise<Opened> => {
    const addressOf = (run: string): string => `${run}/report.html`;
    const page = {
      ...{ batch: shown, addressOf, remakeOf: () => '' },
      ...{ verdictOf: () => undefined, baseline: undefined },
    };
    return chromium.open(await renderBatchHtml(page), options);
  };

  test('the finding comes first, each square leads to its run, and nothing is complained of', async () => {
    const { page, complaints, requests } = await open();
    expect(await page.locator('h1').textContent()).toBe(
      'Corrupt with unfenced, ack-early and fence-if-out-of-service, inconclusive with exclusive, safe with the 4 others',
    );
    const squares = page.locator('.square a');
    expect(await squares.count()).toBe(batch.cells.length);
    expect(await squares.first().getAttribute('href')).toMatch(/^cells\/.*\/report\.html$/);
    expect(complaints).toEqual([]);
    expect(requests).toEqual([]);
  });

  test('cells are sorted by a number and back', async () => {
    const { page } = await open();
    const times = async (): Promise<number[]> =>
      (await page.locator('#cells tbody td:nth-child(7)').allTextContents()).map(Number.parseFloat);
    const head = page.getByRole('button', { name: 'downtime', exact: true });
    await head.click();
    expect(await times()).toEqual((await times()).toSorted((a, b) => a - b));
    await head.click();
    expect(await times()).toEqual((await times()).toSorted((a, b) => b - a));
  });

  test('cells are filtered by words and by verdict', async () => {
    const { page } = await open();
    await page.locator('#cell-words').fill('cut off unfenced');
    expect(await page.locator('#cells tbody tr:visible').count()).toBe(4);
    await page.locator('#cell-verdict').selectOption('safe');
    expect(await page.locator('#cells tbody tr:visible').count()).toBe(1);
    expect(await page.locator('#cell-count').textContent()).toBe('1 of 32 cells');
    await page.locator('#cell-words').fill('');
    expect(await page.locator('#cells tbody tr:visible').count()).toBe(24);
  });

  test('two cells stand side by side; a third takes the place of the first', async () => {
    const { page } = await open();
    const boxes = page.locator('#cells tbody input');
    const head = page.locator('#comparison tr').first().locator('td');
    await boxes.nth(0).check();
    expect(await page.locator('#comparison').isVisible()).toBe(false);
    await boxes.nth(1).check();
    expect(await head.allTextContents()).toEqual(batch.cells.slice(0, 2).map(({ label }) => label));
    await boxes.nth(2).check();
    expect(await head.allTextContents()).toEqual(batch.cells.slice(1, 3).map(({ label }) => label));
  });

  test('fits a phone, and axe finds nothing serious', async () => {
    const { page } = await open({ viewport: { width: 390, height: 800 }, bypassCSP: true });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await seriousProblems(page)).toEqual([]);
    const dark = await open({ colorScheme: 'dark', bypassCSP: true });
    expect(await seriousProblems(dark.page)).toEqual([]);
  });

  const phone = { viewport: { width: 390, height: 800 } };

  test('a grid that is long in one direction runs down, so that a phone shows all of it', async () => {
    const axes = batch.axes.map((axis) =>
      axis.name === 'case' ? { ...axis, labels: axis.labels.slice(0, 3) } : axis,
    );
    const shown = new Set(axes.find(({ name }) => name === 'case')?.labels);
    const cells = batch.cells.filter(({ place }) => shown.has(place['case'] ?? ''));
    const { page } = await open(phone, { ...batch, axes, cells });
    const box = page.getByRole('region', { name: 'Verdict of each cell' });
    expect(await box.locator('tbody tr').count()).toBe(8);
    expect(await box.locator('.square').count()).toBe(24);
    await box.and(page.locator('.ends')).waitFor();
    expect(await box.locator('.scroll-hint').isVisible()).toBe(false);
  });

  test('on a phone a wide grid scrolls in its own box, says so, and is read without a lens', async () => {
    const labels = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
    const axes = ['disk', 'remedy'].map((name) => ({ name, labels }));
    const cells = labels.flatMap((disk) =>
      labels.map((remedy) => ({
        ...exampleCell(`${disk}-${remedy}`, 'inconclusive', 0),
        place: { disk, remedy },
      })),
    );
    const wideBatch = { ...batch, axes, cells, checks: [], contrasts: [], differences: [] };
    const { page } = await open(phone, wideBatch);
    const box = page.getByRole('region', { name: 'Verdict of each cell' });
    const hint = box.locator('.scroll-hint');
    await hint.waitFor();
    const smallestPx = await page.evaluate<number>(
      'Math.min(...[...document.querySelectorAll(".map th, .square")]' +
        '.map((each) => Number.parseFloat(getComputedStyle(each).fontSize)))',
    );
    expect(smallestPx).toBeGreaterThanOrEqual(12);
    const head = box.locator('tbody th').first();
    const leftOf = async (): Promise<number> => (await head.boundingBox())?.x ?? Number.NaN;
    const before = await leftOf();
    await box.evaluate((each: { scrollLeft: number }) => void (each.scrollLeft = 4000));
    // The head of its row stays in sight.
    expect(Math.abs((await leftOf()) - before)).toBeLessThan(4);
    await box.and(page.locator('.ends')).waitFor();
    const desk = await open({ viewport: { width: 1280, height: 800 } });
    await desk.page.locator('.wide-table.ends').first().waitFor();
    expect(await desk.page.locator('.scroll-hint:visible').count()).toBe(0);
  });

  test('without JavaScript the map, the pairs and the table are there', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    expect(await page.locator('.square').count()).toBe(32);
    expect(await page.locator('#cells tbody tr').count()).toBe(32);
    expect(await page.locator('#cell-words').isVisible()).toBe(false);
  });
});
