/** Pages in a real Chromium, with what they complain of and what they ask the network for. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';

/** Undefined where there is none. */
export const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

/** A busy machine draws later. */
export const soon = { timeout: 60_000 };

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Problem {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe-core calls serious or critical, with the elements it means; all sections are opened. */
export async function seriousProblems(page: Page): Promise<string[]> {
  await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true');
  await page.evaluate(axe);
  const problems = await page.evaluate<Problem[]>('axe.run().then((found) => found.violations)');
  return problems
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`);
}

export interface Opened {
  readonly page: Page;
  /** Console messages of level error or warning, and uncaught exceptions. */
  readonly complaints: string[];
  /** Every request but the file itself and the pictures inside it. */
  readonly requests: string[];
  /** Processor time that the page has taken so far, seconds: of a busy machine the same. */
  readonly busyS: () => Promise<number>;
}

interface Pages {
  open(html: string, options?: BrowserContextOptions): Promise<Opened>;
}

/** Starts a browser before the tests around the call, and ends it after them. */
export function openingPages(folder: string): Pages {
  let browser: Browser;
  beforeAll(async () => {
    const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];
    browser = await chromium.launch({ executablePath: chromiumPath ?? '', args });
  });
  afterAll(() => browser.close());
  return {
    async open(html, options = {}): Promise<Opened> {
      const file = join(folder, `${Math.random()}.html`);
      writeFileSync(file, html);
      const page = await (await browser.newContext(options)).newPage();
      const devtools = await page.context().newCDPSession(page);
      await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
      const complaints: string[] = [];
      const requests: string[] = [];
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      const url = pathToFileURL(file).href;
      page.on('request', (request) => {
        if (request.url() !== url && !request.url().startsWith('data:'))
          requests.push(request.url());
      });
      await page.goto(url);
      return {
        ...{ page, complaints, requests },
        busyS: async (): Promise<number> => {
          const { metrics } = await devtools.send('Performance.getMetrics');
          return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Infinity;
        },
      };
    },
  };
}
