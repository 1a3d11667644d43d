/** The verdict as Markdown, for a CI job's summary page. */
import type { Verdict } from '../judge/index.ts';
import { scoreInWords } from './mutant-score.ts';
import { diskInWords } from './disk-words.ts';
import { percent } from './html-parts.ts';
import { secondsShown } from '../core/index.ts';
import { lossRows, lostColumn, commitsFact, hasLostFile, lostFile } from './loss-words.ts';
import {
  basisLabel,
  customInWords,
  expectation,
  exposureInWords,
  noticedInWords,
  secondMountInWords,
} from './wording.ts';

/** `picture`: a file beside the summary. */
export function renderSummary(verdict: Verdict, picture?: string): string {
  const { availability } = verdict;
  const exposure = exposureInWords(verdict);
  const mount = secondMountInWords(verdict);
  const commits = commitsFact(verdict);
  const noticed = noticedInWords(verdict);
  const custom = customInWords(verdict);
  const downtime = availability.downtimeMs;
  const rows: [string, string][] = [
    ['Basis', basisLabel(verdict)],
    ['Expected', expectation(verdict)],
    [commits.name, `${commits.value} (${commits.more})`],
    ['Downtime', downtime === null ? 'unknown' : secondsShown(downtime / 1000)],
    ...(custom === undefined ? [] : [['The caller’s own', custom] satisfies [string, string]]),
    ['Disk', diskInWords(verdict)],
    ['Two could write for', `${exposure.value}: ${exposure.more}`],
    ['Second mount', `${mount.value} (${mount.more})`],
    ...(noticed === undefined ? [] : [['Noticed', noticed.whole] satisfies [string, string]]),
  ];
  const epochs = lossRows(verdict).map(
    ({ epoch, acked, lost }) => `| ${epoch} | ${acked} | ${lost} | ${percent(lost, acked)} |`,
  );
  return [
    `### ${verdict.verdict.toUpperCase()}: ${escape(String(verdict.scenario['name']))}`,
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
