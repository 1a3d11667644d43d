/** The report's time axis and lists in a real browser, by mouse and by key; report.test.ts says where there is none. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { exampleVerdict } from '../support/example-verdict.ts';
import { exampleSource } from '../support/example-source.ts';
import { renderHtml } from '../../lib/report/html.ts';
import { reportData } from '../../lib/report/report-data.ts';
import { chromiumPath, openingPages, soon, type Opened } from './chromium.ts';
import { mysql } from '../../lib/mysql/database.ts';

describe.skipIf(chromiumPath === undefined)('the time axis in Chromium', () => {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-report-'));
  const chromium = openingPages(folder);
  afterAll(() => rmSync(folder, { recursive: true }));

  const open = async (verdict: Verdict, options: BrowserContextOptions = {}): Promise<Opened> =>
    chromium.open(await renderHtml(reportData(verdict, exampleSource, mysql)), options);

  const rangeIs = (page: Page, text: RegExp): Promise<void> =>
    page.locator('#range', { hasText: text }).waitFor(soon);

  /** Scrolls so that this part of the time axis is in the middle, and puts the mouse there. */
  async function hover(page: Page, x: number, y: number): Promise<void> {
    const top = await page.evaluate<number>(
      `(() => { const box = document.getElementById('timeline').getBoundingClientRect();
        scrollTo(0, scrollY + box.top + ${y} - 400);
        return document.getElementById('timeline').getBoundingClientRect().top; })()`,
    );
    const left = (await page.locator('#timeline').boundingBox())?.x ?? 0;
    await page.mouse.move(left + x - 3, top + y);
    await page.mouse.move(left + x, top + y);
  }

  /** What is written on the chart's canvas, a text a line. */
  const written = (page: Page): Promise<string> =>
    page.evaluate(
      `echarts.getInstanceByDom(document.getElementById('timeline')).getZr().storage
        .getDisplayList(true).map(({ style }) => style?.text ?? '').join('\\n')`,
    );
  /** Tops of the plots below the lanes, px from the chart's own. */
  const plotTops = (page: Page): Promise<number[]> =>
    page.evaluate(
      `echarts.getInstanceByDom(document.getElementById('timeline')).getOption().grid
        .map(({ top }) => top)`,
    );

  test('each plot tells its values where the mouse is, and goes on working', async () => {
    const { page, complaints, requests } = await open(exampleVerdict);
    await rangeIs(page, /operations$/);
    const [lanes = 0, ...plots] = await plotTops(page);
    // The heading's row has no bar: the next row is the phases'.
    await hover(page, 600, lanes + 32);
    await expect.poll(() => written(page), soon).toMatch(/phase\n/);
    expect(plots).toHaveLength(4);
    const names = ['acknowledged commits/s', 'slowest commit', 'longest pause', 'MiB written'];
    for (const [index, top] of plots.entries()) {
      // On the line itself in the third plot, beside it in the others.
      await hover(page, 600, top + 8);
      const tooltip = new RegExp(`^\\+[\\d.]+ s$[^]*${names[index]}[^]*^ {2}\\S.*: [\\d.]+$`, 'm');
      await expect.poll(() => written(page), soon).toMatch(tooltip);
    }
    await page.getByRole('button', { name: 'Whole run' }).click();
    await rangeIs(page, /^-60.0 s to 500.0 s after the fault, /);
    expect(complaints).toEqual([]);
    expect(requests).toEqual([]);
  });

  test('begins with fault and hand-over in sight; each button changes what is in view', async () => {
    const { page, complaints } = await open(exampleVerdict);
    await rangeIs(page, /^-27.0 s to 472.0 s after the fault, /);
    const range = (): Promise<string | null> => page.locator('#range').textContent();
    const names = ['Hand-over', 'Fault', 'Zoom in', 'Later', 'Earlier', 'Zoom out', 'Whole run'];
    for (const name of [...names, 'Overview']) {
      const before = await range();
      await page.getByRole('button', { name, exact: true }).click();
      await expect.poll(range, soon).not.toBe(before);
    }
    await rangeIs(page, /^-27.0 s to 472.0 s after the fault, /);
    expect(complaints).toEqual([]);
  });

  test('zooms by button and by key', async () => {
    const { page, complaints } = await open(exampleVerdict);
    await page.getByRole('button', { name: 'Hand-over' }).click();
    await rangeIs(page, /^404.2 s to 460.2 s after the fault, /);
    await page.locator('#timeline').focus();
    await page.keyboard.press('+');
    await rangeIs(page, /^418.2 s to 446.2 s after the fault, /);
    await page.keyboard.press('0');
    await rangeIs(page, /^-60.0 s to 500.0 s after the fault, 1,258 operations$/);
    expect(complaints).toEqual([]);
  });

  test('the wheel scrolls the page; with Ctrl it zooms', async () => {
    const { page } = await open(exampleVerdict);
    await rangeIs(page, /^-27.0 s to 472.0 s/);
    await hover(page, 600, 300);
    const scrolled = (): Promise<number> => page.evaluate('scrollY');
    const before = await scrolled();
    await page.mouse.wheel(0, -120);
    await expect.poll(scrolled, soon).toBe(before - 120);
    expect(await page.locator('#range').textContent()).toMatch(/^-27.0 s to 472.0 s/);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -120);
    await page.keyboard.up('Control');
    await expect
      .poll(() => page.locator('#range').textContent(), soon)
      .not.toMatch(/^-27.0 s to 472/);
    expect(await scrolled()).toBe(before - 120);
  });

  test('dragging chooses a stretch, the address names it, and leads there again', async () => {
    const { page, complaints } = await open(exampleVerdict);
    await rangeIs(page, /^-27.0 s to 472.0 s/);
    await hover(page, 400, 300);
    await page.mouse.down();
    const { x = 0 } = (await page.locator('#timeline').boundingBox()) ?? {};
    await page.mouse.move(x + 500, 400, { steps: 4 });
    expect(await page.locator('.chosen').isVisible()).toBe(true);
    await page.mouse.up();
    expect(await page.locator('.chosen').isVisible()).toBe(false);
    await expect.poll(() => page.url(), soon).toMatch(/#t=[\d.]+,[\d.]+$/);
    const range = await page.locator('#range').textContent();
    const again = await page.context().newPage();
    await again.goto(page.url());
    await rangeIs(again, new RegExp(`^${range?.split(' after')[0] ?? 'none'} after the fault, `));
    expect(complaints).toEqual([]);
  });

  test('a node’s lanes are closed and opened, by button and by their heading', async () => {
    const { page } = await open(exampleVerdict);
    await rangeIs(page, /operations$/);
    const button = page.getByRole('button', { name: 'Victim example-worker', exact: true });
    expect(await written(page)).toContain('▾ Victim example-worker');
    await button.click();
    expect(await button.getAttribute('aria-pressed')).toBe('false');
    await expect.poll(() => written(page), soon).toContain('▸ Victim example-worker\n');
    const [lanes = 0] = await plotTops(page);
    await hover(page, 130, lanes + 4 * 21 + 10);
    await page.mouse.down();
    await page.mouse.up();
    await expect.poll(() => written(page), soon).toContain('▾ Victim example-worker\n');
  });

  test('a licence step leads to its raw record', async () => {
    const { page } = await open(exampleVerdict);
    const link = page.locator('.licence a').nth(1);
    const target = page.locator((await link.getAttribute('href')) ?? '#none');
    expect(await target.isVisible()).toBe(false);
    await link.click();
    await target.waitFor({ state: 'visible' });
    expect(await target.textContent()).toContain('force detaching');
    expect(await target.getAttribute('class')).toContain('linked');
  });

  test('raw records are filtered, by words and by what the time axis shows', async () => {
    const { page } = await open(exampleVerdict);
    await page.locator('summary', { hasText: 'Raw records' }).click();
    const raw = page.locator('#raw');
    await raw.locator('[data-filter]').fill('force detaching');
    expect(await raw.locator('tbody tr').count()).toBe(1);
    expect(await raw.locator('[data-count]').textContent()).toMatch(/^1 to 1 of 1 that fit, /);
    await raw.locator('[data-filter]').fill('');
    await page.getByRole('button', { name: 'Hand-over' }).click();
    await raw.locator('[data-only-view]').check();
    const first = await raw.locator('tbody tr td:nth-child(2)').first().textContent();
    expect(Number.parseFloat(first ?? '')).toBeGreaterThanOrEqual(404.2);
  });

  test('operations are listed one by one, the slowest first where that is asked', async () => {
    const { page, complaints } = await open(exampleVerdict);
    await page.locator('summary', { hasText: 'Operations, one by one' }).click();
    const section = page.locator('#operations');
    await section.locator('tbody tr').nth(99).waitFor();
    await page.getByRole('button', { name: 'Whole run' }).click();
    // Rows are inflated before they are shown: each change comes a little after its click.
    const count = (): Promise<string | null> => section.locator('[data-count]').textContent();
    await expect.poll(count, soon).toBe('1 to 100 of 1,258 that fit, 1,258 in all');
    await section.getByRole('button', { name: 'Next' }).click();
    await expect.poll(count, soon).toMatch(/^101 to 200 /);
    await section.locator('[data-slowest]').check();
    const latency = section.locator('tbody td').nth(1);
    await expect.poll(() => latency.textContent(), soon).toBe('68.000 ms');
    expect(complaints).toEqual([]);
  });
});
