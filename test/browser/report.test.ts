/** The report in a real browser. Skips aloud without Chromium; with CI=true that is a failure. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { headlineOf } from '../../lib/judge/verdict/words.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { exampleVerdict } from '../support/example-verdict.ts';
import { exampleSource } from '../support/example-source.ts';
import { renderHtml } from '../../lib/report/html.ts';
import { reportData } from '../../lib/report/report-data.ts';
import { planted, writeLargeHistory } from '../support/large-history.ts';
import { chromiumPath, openingPages, seriousProblems, soon, type Opened } from './chromium.ts';
import { mysql } from '../../lib/mysql/database.ts';

test('Chromium is here where CI is', () => {
  if (chromiumPath === undefined) {
    process.stderr.write('SKIPPED: the report in a browser; no Chromium (apt install chromium)\n');
  }
  expect(chromiumPath !== undefined || process.env['CI'] !== 'true').toBe(true);
});

describe.skipIf(chromiumPath === undefined)('the report in Chromium', () => {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-report-'));
  const chromium = openingPages(folder);
  afterAll(() => rmSync(folder, { recursive: true }));

  const open = async (verdict: Verdict, options: BrowserContextOptions = {}): Promise<Opened> =>
    chromium.open(await renderHtml(reportData(verdict, exampleSource, mysql)), options);

  const rangeIs = (page: Page, text: RegExp): Promise<void> =>
    page.locator('#range', { hasText: text }).waitFor(soon);

  test('says the verdict, complains of nothing and asks the network for nothing', async () => {
    const { page, complaints, requests } = await open(exampleVerdict);
    expect(await page.locator('h1').textContent()).toBe(headlineOf(exampleVerdict));
    expect(await page.locator('h1 + p').textContent()).toBe(exampleVerdict.sentence);
    await page.locator('#timeline canvas').first().waitFor();
    expect(complaints).toEqual([]);
    expect(requests).toEqual([]);
  });

  test('follows the system’s theme and the button', async () => {
    const { page } = await open(exampleVerdict, { colorScheme: 'dark' });
    const background = 'getComputedStyle(document.body).backgroundColor';
    const dark = await page.evaluate(background);
    await page.locator('#theme').click();
    expect(await page.evaluate(background)).not.toBe(dark);
  });

  test.each(['light', 'dark'] as const)('axe finds nothing serious, %s', async (colorScheme) => {
    const { page } = await open(exampleVerdict, { colorScheme, bypassCSP: true });
    await page.locator('#timeline canvas').first().waitFor();
    expect(await seriousProblems(page)).toEqual([]);
  });

  test('a million operations: ≤ 10 MB, opened in ≤ 2 s, zoomed, and each within reach', async () => {
    const run = join(folder, 'million');
    writeLargeHistory(run, 1_000_000);
    const data = reportData(exampleVerdict, openHistory(run), mysql);
    const html = await renderHtml(data);
    expect(Buffer.byteLength(html)).toBeLessThanOrEqual(10e6);
    const { page, complaints, busyS } = await chromium.open(html);
    await rangeIs(page, /operations$/);
    // What a quiet machine takes to open it; `npm run bench -- report` has the time itself.
    expect(await busyS()).toBeLessThanOrEqual(2);
    await page.getByRole('button', { name: 'Whole run' }).click();
    await rangeIs(page, /99\d,\d{3} operations$/);
    const { outlier } = planted;
    await page.locator('summary', { hasText: 'Operations, one by one' }).click();
    const first = page.locator('#operations tbody tr').first();
    await page.locator('#operations [data-slowest]').check();
    expect(await first.textContent()).toContain(`${outlier.latencyMs.toFixed(3)} ms`);
    expect(await first.textContent()).toContain(`${outlier.endS.toFixed(6)} s`);
    await page.getByRole('button', { name: 'Fault' }).click();
    await page.locator('#timeline').focus();
    for (let n = 0; n < 8; n++) await page.keyboard.press('+');
    // So near, each operation is a point of its own.
    await rangeIs(page, /after the fault, [2-9]\d\d operations$/);
    expect(complaints).toEqual([]);
  });

  test('without JavaScript the facts and a picture of the time axis are there', async () => {
    const { page } = await open(exampleVerdict, { javaScriptEnabled: false });
    expect(await page.locator('h1').textContent()).toBe(headlineOf(exampleVerdict));
    expect(await page.locator('h1 + p').textContent()).toBe(exampleVerdict.sentence);
    expect(await page.locator('.static img.only-light').isVisible()).toBe(true);
    expect(await page.locator('#theme').isVisible()).toBe(false);
  });

  test('fits a phone: nothing sticks out, and no card is cut off', async () => {
    const notice = { by: 'attachdetach-controller', what: 'event FailedAttachVolume' };
    const about = {
      when: 'before the heal' as const,
      firstS: 346,
      lastS: 900,
      count: 2614,
      ofHarm: true,
    };
    const notices = [{ ...notice, ...about, evidence: '' }];
    const verdict = { ...exampleVerdict, notices };
    const { page } = await open(verdict, { viewport: { width: 390, height: 800 } });
    await page.locator('#timeline canvas').first().waitFor();
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(390);
    const cut = await page.evaluate(
      '[...document.querySelectorAll(".card")].filter((each) => each.scrollWidth > each.clientWidth)' +
        '.map((each) => each.querySelector("h2, summary").textContent)',
    );
    expect(cut).toEqual([]);
  });

  test('hostile text runs nothing', async () => {
    const hostile =
      '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>';
    const verdict = { ...exampleVerdict, sentence: hostile, replay: hostile };
    const { page, requests } = await open(verdict);
    expect(await page.locator('h1 + p').textContent()).toBe(hostile);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(requests).toEqual([]);
  });

  test('prints with the picture instead of the canvas', async () => {
    const { page } = await open(exampleVerdict, { colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('#timeline').isVisible()).toBe(false);
    expect(await page.locator('.static img.only-light').isVisible()).toBe(true);
    expect(await page.locator('.static img.only-dark').isVisible()).toBe(false);
    // Nobody can open on paper what is closed; records are too many for it.
    expect(await page.getByRole('heading', { name: 'Timers in force, ms' }).isVisible()).toBe(true);
    expect(await page.locator('#raw table').isVisible()).toBe(false);
  });
});
