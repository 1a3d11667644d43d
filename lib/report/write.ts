/** Writes what a run leaves for people and machines, next to its history. */
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Database } from '../run/index.ts';
import type { Verdict } from '../judge/index.ts';
import type { History } from '../history/index.ts';
import { cellsFolder, resultsFile } from '../batch/index.ts';
import { writeOutput } from '../core/index.ts';
import { renderHtml } from './html.ts';
import { renderJunit } from './junit.ts';
import { writeLostCommits } from './loss-words.ts';
import { timelineSvg } from './pictures.ts';
import { reportData, type ReportSource } from './report-data.ts';
import { renderSummary } from './summary.ts';

/** The picture that summary.md shows. */
const pictureFile = 'timeline.svg';

/** All that a run leaves. `page`: whether report.html and the picture are wanted. Default true. */
export async function writeRun(
  folder: string,
  verdict: Verdict,
  history: History,
  { database, page = true }: { readonly database: Database; readonly page?: boolean },
): Promise<void> {
  if (page) await writeOutputs(folder, verdict, history, database);
  else await writeFacts(folder, verdict, history);
  writeLostCommits(folder, verdict, history, database);
}

/**
 * verdict.json, report.html, junit.xml, summary.md and its picture: the same input gives the same
 * bytes.
 */
export async function writeOutputs(
  folder: string,
  verdict: Verdict,
  source: ReportSource,
  database: Database,
): Promise<void> {
  const data = reportData(verdict, source, database);
  writeOutput(join(folder, 'report.html'), await renderHtml(data));
  writeOutput(join(folder, pictureFile), timelineSvg(data.timeline, data.operations));
  await writeFacts(folder, verdict, source, pictureFile);
}

/** The same without page and picture; `picture`: one that is there already. */
async function writeFacts(
  folder: string,
  verdict: Verdict,
  source: ReportSource,
  picture?: string,
): Promise<void> {
  const write = (name: string, content: string): void => writeOutput(join(folder, name), content);
  write('verdict.json', `${JSON.stringify(verdict, undefined, 2)}\n`);
  write('junit.xml', await renderJunit(verdict, source, runInBatch(folder)));
  write('summary.md', renderSummary(verdict, picture));
}

/** Its name among the runs of its batch; empty for a run of its own. */
function runInBatch(folder: string): string {
  const [cells, run] = [dirname(resolve(folder)), basename(resolve(folder))];
  const inBatch = basename(cells) === cellsFolder && existsSync(join(cells, '..', resultsFile));
  return inBatch ? run : '';
}
