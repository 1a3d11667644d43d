/**
 * `npx node scripts/screenshots.ts`: makes the pictures of README and docs with Chromium, from the committed
 * samples' histories.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { rebuildRun } from '../lib/cli/commands/report.ts';
import { openHistory } from '../lib/history/reader.ts';

type ColorScheme = 'light' | 'dark';
interface Clip {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Picture {
  readonly file: string;
  readonly sample: string;
  readonly colorScheme: ColorScheme;
  readonly height: number;
  /** Brings the page into the state to show. Returns the part to show; undefined: the first screen. */
  readonly prepare?: (page: Page) => Promise<Clip | undefined>;
}

/** The time axis at the hand-over, its plots in sight. */
async function timelineAtHandover(page: Page): Promise<undefined> {
  await page.getByRole('button', { name: 'Hand-over' }).click();
  await page.evaluate('document.querySelector("#timeline").closest("section").scrollIntoView()');
}

/** The lanes of the victim and of its successor, and the commits that each acknowledged. */
async function bothWriting(page: Page): Promise<Clip> {
  for (const role of ['run', 'control-plane']) await page.locator(`[data-role=${role}]`).click();
  await timelineAtHandover(page);
  const box = await page.locator('#timeline').boundingBox();
  if (box === null) throw new Error('the page has no time axis');
  return { ...box, y: box.y + 40, height: 696 };
}

const bothScheme = (colorScheme: ColorScheme): Picture => ({
  file: `docs/images/hand-over-${colorScheme}.png`,
  sample: 'partition-out-of-service',
  colorScheme,
  height: 1500,
  prepare: bothWriting,
});

const pictures: readonly Picture[] = [
  bothScheme('light'),
  bothScheme('dark'),
  {
    file: 'docs/images/report-timeline.png',
    sample: 'partition-force-delete-unfenced',
    colorScheme: 'dark',
    height: 1400,
    prepare: timelineAtHandover,
  },
];

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser'];
const executablePath = places.find((place) => existsSync(place)) ?? '';
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const folder = mkdtempSync(join(tmpdir(), 'forcedetach-screenshots-'));
try {
  for (const { file, sample, colorScheme, height, prepare } of pictures) {
    await rebuildRun(folder, openHistory(join('reports/samples', sample)));
    const page = await browser.newPage({ viewport: { width: 1280, height }, colorScheme });
    await page.goto(pathToFileURL(join(folder, 'report.html')).href);
    await page.locator('#range', { hasText: 'operations' }).waitFor();
    const clip = await prepare?.(page);
    // The plots follow the zoom in the next frames.
    await page.waitForTimeout(500);
    await page.screenshot({ path: file, ...(clip === undefined ? {} : { clip }) });
    await page.close();
    process.stdout.write(`${file}\n`);
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
