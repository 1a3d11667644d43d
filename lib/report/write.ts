/** Writes what a run leaves for people and machines, next to its history. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Verdict } from '../experiment/verdict.ts';
import { renderHtml } from './html.ts';
import { renderJunit } from './junit.ts';
import { reportData, type ReportSource } from './report-data.ts';
import { renderSummary } from './summary.ts';

/** verdict.json, report.html, junit.xml and summary.md: the same input gives the same bytes. */
export async function writeOutputs(
  folder: string,
  verdict: Verdict,
  source: ReportSource,
): Promise<void> {
  const page = await renderHtml(reportData(verdict, source));
  writeFileSync(join(folder, 'report.html'), page);
  await writeFacts(folder, verdict);
}

/** The same without the page. */
export async function writeFacts(folder: string, verdict: Verdict): Promise<void> {
  const write = (name: string, content: string): void => writeFileSync(join(folder, name), content);
  write('verdict.json', `${JSON.stringify(verdict, undefined, 2)}\n`);
  write('junit.xml', await renderJunit(verdict));
  write('summary.md', renderSummary(verdict));
}
