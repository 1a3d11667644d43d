/** The report in a real browser. Skips aloud without Chromium; with CI=true that is a failure. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Verdict } from '../../lib/experiment/verdict.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { exampleVerdict } from '../../lib/report/example.ts';
import { exampleSource } from '../../lib/report/example-source.ts';
import { renderHtml } from '../../lib/report/html.ts';
import { reportData } from '../../lib/report/report-data.ts';
import { planted, writeLargeHistory } from '../support/large-history.ts';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

test('Chromium is here where CI is', () => {
  if (executablePath === undefined) {
    process.stderr.write('SKIPPED: the report in a browser; no Chromium (apt install chromium)\n');
  }
  expect(executablePath !== undefined || process.env['CI'] !== 'true').toBe(true);
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Problem {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What axe-core calls serious or critical, with the elements it means; all sections are opened. */
async function seriousProblems(page: Page): Promise<string[]> {
  await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true');
  await page.evaluate(axe);
  const problems = await page.evaluate<Problem[]>('axe.run().then((found) => found.violations)');
  return problems
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`);
}

interface Opened {
  readonly page: Page;
  /** Console messages of level error or warning, and uncaught exceptions. */
  readonly complaints: string[];
  /** Every request but the file itself and the pictures inside it. */
  readonly requests: string[];
}

describe.skipIf(executablePath === undefined)('the report in Chromium', () => {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-report-'));
  let browser: Browser;

  beforeAll(async () => {
    const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];
    browser = await chromium.launch({ executablePath: executablePath ?? '', args });
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  const open = async (verdict: Verdict, options: BrowserContextOptions = {}): Promise<Opened> =>
    openPage(await renderHtml(reportData(verdict, exampleSource)), options);

  async function openPage(html: string, options: BrowserContextOptions = {}): Promise<Opened> {
    const file = join(folder, `${Math.random()}.html`);
    writeFileSync(file, html);
    const page = await (await browser.newContext(options)).newPage();
    const complaints: string[] = [];
    const requests: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    const url = pathToFileURL(file).href;
    page.on('request', (request) => {
      if (request.url() !== url && !request.url().startsWith('data:')) requests.push(request.url());
    });
    await page.goto(url);
    return { page, complaints, requests };
  }

  const rangeIs = (page: Page, text: RegExp): Promise<void> =>
    page.locator('#range', { hasText: text }).waitFor({ timeout: 10_000 });

  test('says the verdict, complains of nothing and asks the network for nothing', async () => {
    const { page, complaints, requests } = await open(exampleVerdict);
    expect(await page.locator('h1').textContent()).toBe(exampleVerdict.sentence);
    await page.locator('#timeline canvas').first().waitFor();
    // Tooltips and the axis pointer appear on the way; the policy must not forbid them.
    const box = await page.locator('#timeline').boundingBox();
    for (let y = 100; y < (box?.height ?? 0); y += 40) {
      await page.mouse.move((box?.x ?? 0) + 500, (box?.y ?? 0) + y);
    }
    expect(complaints).toEqual([]);
    expect(requests).toEqual([]);
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

  test('a licence step leads to its raw record', async () => {
    const { page } = await open(exampleVerdict);
    const link = page.locator('.licence a').nth(1);
    const target = page.locator((await link.getAttribute('href')) ?? '#none');
    expect(await target.isVisible()).toBe(false);
    await link.click();
    await target.waitFor({ state: 'visible' });
    expect(await target.textContent()).toContain('force detaching');
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
    // Rows are inflated before they are shown: each change comes a little after its click.
    const count = (): Promise<string | null> => section.locator('[data-count]').textContent();
    await expect.poll(count).toBe('1 to 100 of 1,258 that fit, 1,258 in all');
    await section.getByRole('button', { name: 'Next' }).click();
    await expect.poll(count).toMatch(/^101 to 200 /);
    await section.locator('[data-slowest]').check();
    const latency = section.locator('tbody td').nth(1);
    await expect.poll(() => latency.textContent()).toBe('68.000 ms');
    expect(complaints).toEqual([]);
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

  test('a million operations: opened, zoomed, and each within reach', async () => {
    const run = join(folder, 'million');
    writeLargeHistory(run, 1_000_000);
    const data = reportData(exampleVerdict, openHistory(run));
    const { page, complaints } = await openPage(await renderHtml(data));
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
  }, 300_000);

  test('without JavaScript the facts and a picture of the time axis are there', async () => {
    const { page } = await open(exampleVerdict, { javaScriptEnabled: false });
    expect(await page.locator('h1').textContent()).toBe(exampleVerdict.sentence);
    expect(await page.locator('.static img.only-light').isVisible()).toBe(true);
    expect(await page.locator('#theme').isVisible()).toBe(false);
  });

  test('fits a phone: nothing sticks out', async () => {
    const { page } = await open(exampleVerdict, { viewport: { width: 390, height: 800 } });
    await page.locator('#timeline canvas').first().waitFor();
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(390);
  });

  test('hostile text runs nothing', async () => {
    const hostile =
      '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>';
    const verdict = { ...exampleVerdict, sentence: hostile, replay: hostile };
    const { page, requests } = await open(verdict);
    expect(await page.locator('h1').textContent()).toBe(hostile);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(requests).toEqual([]);
  });

  test('prints with the picture instead of the canvas', async () => {
    const { page } = await open(exampleVerdict, { colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('#timeline').isVisible()).toBe(false);
    expect(await page.locator('.static img.only-light').isVisible()).toBe(true);
    expect(await page.locator('.static img.only-dark').isVisible()).toBe(false);
  });
});
