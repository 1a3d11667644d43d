/**
 * A history of a million operations: how long its report takes to be built, how large it is, and how
 * long Chromium takes to open it. The audit of as many rows is `npm run bench -- audit`.
 */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { assembleVerdict } from '../lib/judge/verdict/assemble.ts';
import { openHistory } from '../lib/history/reader.ts';
import { writeOutputs } from '../lib/report/write.ts';
import { writeLargeHistory } from '../test/support/large-history.ts';
import type { BenchContext, BenchResult } from './support/bench.ts';
import { mysql } from '../lib/mysql/database.ts';

const operations = 1_000_000;
const target = { buildS: 5, openS: 2, sizeMB: 10 };

interface Built {
  readonly buildS: number;
  /** Processor time of that: what remains of it on an idle machine. */
  readonly buildCpuS: number;
  readonly sizeMB: number;
}

export default async function bench({ onProgress }: BenchContext): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-bench-report-'));
  try {
    writeLargeHistory(folder, operations);
    onProgress(`${operations} operations are on file`);
    const built = await build(folder);
    onProgress(`built in ${built.buildS} s, ${built.buildCpuS} s of processor time`);
    const openS = await open(join(folder, 'report.html'));
    const { buildS, sizeMB } = built;
    return {
      ok: buildS <= target.buildS && openS <= target.openS && sizeMB <= target.sizeMB,
      lines: [
        `built in ${buildS} s (target ${target.buildS}), ${built.buildCpuS} s of processor time`,
        `opens in ${openS} s (target ${target.openS})`,
        `${sizeMB} MB (target ${target.sizeMB})`,
      ],
      data: { operations, target, ...built, openS },
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const round = (value: number): number => Number(value.toFixed(2));

async function build(folder: string): Promise<Built> {
  const startedMs = performance.now();
  const cpu = process.cpuUsage();
  const history = openHistory(folder);
  await writeOutputs(folder, assembleVerdict(history, { database: mysql }), history, mysql);
  const { user, system } = process.cpuUsage(cpu);
  return {
    buildS: round((performance.now() - startedMs) / 1000),
    buildCpuS: round((user + system) / 1e6),
    sizeMB: round(statSync(join(folder, 'report.html')).size / 1e6),
  };
}

/** Until the time axis is drawn with all operations. */
async function open(file: string): Promise<number> {
  const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser'];
  const executablePath = places.find((place) => existsSync(place)) ?? '';
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];
  const browser = await chromium.launch({ executablePath, args });
  try {
    const page = await browser.newPage();
    await page.goto('about:blank');
    const startedMs = performance.now();
    await page.goto(pathToFileURL(file).href);
    await page.locator('#range', { hasText: 'operations' }).waitFor();
    return round((performance.now() - startedMs) / 1000);
  } finally {
    await browser.close();
  }
}
