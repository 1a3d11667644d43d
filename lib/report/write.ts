/** Writes what a run leaves for people and machines, next to its history. */
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Database } from '../run/index.ts';
import type { Verdict } from '../judge/index.ts';
import type { History } from '../history/index.ts';
import { cellsFolder, resultsFile } from '../batch/index.ts';
import { secondsShown, writeOutput } from '../core/index.ts';
import {
  basisLabel,
  customInWords,
  diskInWords,
  expectation,
  exposureInWords,
  noticedInWords,
  secondMountInWords,
} from './wording.ts';
import type { Fact } from './first-screen.ts';
import { renderHtml } from './html.ts';
import { percent } from './html-parts.ts';
import { renderJunit } from './junit.ts';
import {
  commitsFact,
  hasLostFile,
  lossRows,
  lostColumn,
  lostFile,
  writeLostCommits,
} from './loss-words.ts';
import { scoreInWords } from './mutant-score.ts';
import { timelineSvg } from './pictures.ts';
import { reportData, type ReportSource } from './report-data.ts';

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

/** Markdown, for a CI job's summary page. `picture`: a file beside it. */
export function renderSummary(verdict: Verdict, picture?: string): string {
  const custom = customInWords(verdict);
  const noticed = noticedInWords(verdict);
  const told = ({ name, value, more }: Fact): [string, string] => [name, `${value} (${more})`];
  const exposure = exposureInWords(verdict);
  const downtime = verdict.availability.downtimeMs;
  const rows: [string, string][] = [
    ['Basis', basisLabel(verdict)],
    ['Expected', expectation(verdict)],
    told(commitsFact(verdict)),
    ['Downtime', downtime === null ? 'unknown' : secondsShown(downtime / 1000)],
    ...(custom === undefined ? [] : [['The caller’s own', custom] satisfies [string, string]]),
    ['Disk', diskInWords(verdict)],
    ['Two could write for', `${exposure.value}: ${exposure.more}`],
    told({ name: 'Second mount', ...secondMountInWords(verdict) }),
    ...(noticed === undefined ? [] : [['Noticed', noticed.whole] satisfies [string, string]]),
  ];
  const epochs = lossRows(verdict).map(
    ({ epoch, acked, lost }) => `| ${epoch} | ${acked} | ${lost} | ${percent(lost, acked)} |`,
  );
  return [
    `### ${verdict.verdict.toUpperCase()}: ${escape(verdict.scenario.name)}`,
    '',
    escape(verdict.sentence),
    '',
    ...(picture === undefined ? [] : [`![What happened when](${picture})`, '']),
    '| | |',
    '| --- | --- |',
    ...rows.map(([name, value]) => `| ${name} | ${escape(value)} |`),
    '',
    ...(epochs.length === 0
      ? []
      : [
          `| Acknowledged | commits | ${lostColumn(verdict)} | share |`,
          '| --- | ---: | ---: | ---: |',
          ...epochs,
          '',
        ]),
    ...verdict.incompleteBecause.map((reason) => `- not complete: ${escape(reason)}`),
    ...(hasLostFile(verdict) ? [`Each lost commit: ${lostFile}, beside this.`, ''] : []),
    `How good is this audit? ${escape(scoreInWords(verdict))}.`,
    '',
    '```',
    verdict.replay.replaceAll('`', "'"),
    '```',
    '',
  ].join('\n');
}

/** Markdown's and HTML's own characters lose their meaning; a line break would end a table row. */
export const escape = (text: string): string =>
  text
    .replaceAll(/[&<>]/g, (each) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[each] ?? each)
    .replaceAll(/[\\`*_[\]|#]/g, (each) => `\\${each}`)
    .replaceAll(/\s*\n\s*/g, ' ');
