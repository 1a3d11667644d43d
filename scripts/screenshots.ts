/** Makes the pictures of README and docs/reference/report.md anew, from the committed samples, in Chromium. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Page } from 'playwright-core';

interface Picture {
  readonly file: string;
  readonly sample: string;
  readonly colorScheme: 'light' | 'dark';
  readonly height: number;
  readonly prepare: (page: Page) => Promise<void>;
}

const nothing = (): Promise<void> => Promise.resolve();

/** The time axis at the hand-over, its plots in sight. */
async function handover(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Hand-over' }).click();
  await page.evaluate('document.querySelector("#timeline").closest("section").scrollIntoView()');
}

const pictures: readonly Picture[] = [
  {
    file: 'docs/images/report.png',
    sample: 'partition-force-delete-unfenced',
    colorScheme: 'light',
    height: 860,
    prepare: nothing,
  },
  {
    file: 'docs/images/report-timeline.png',
    sample: 'partition-force-delete-unfenced',
    colorScheme: 'dark',
    height: 1400,
    prepare: handover,
  },
];

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser'];
const executablePath = places.find((place) => existsSync(place)) ?? '';
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
try {
  for (const { file, sample, colorScheme, height, prepare } of pictures) {
    const viewport = { width: 1280, height };
    const page = await browser.newPage({ viewport, colorScheme });
    await page.goto(pathToFileURL(resolve('reports/samples', sample, 'report.html')).href);
    await page.locator('#range', { hasText: 'operations' }).waitFor();
    await prepare(page);
    // The plots follow the zoom in the next frames.
    await page.waitForTimeout(500);
    await page.screenshot({ path: file });
    await page.close();
    process.stdout.write(`${file}\n`);
  }
} finally {
  await browser.close();
}
