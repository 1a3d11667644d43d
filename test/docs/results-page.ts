/** The tables of docs/results/README.md and departures.md: each finding with its fault events, counted from the store. */
import { countOf } from './count-events.ts';
import { all, only, shareText, shortened, stock, textByRate } from '../../lib/batch/counted.ts';
import type { RunLine } from '../../lib/batch/measurements.ts';
import { departures, findings, type PublishedFinding } from './findings.ts';
import { markdownTable } from '../../lib/core/numbers.ts';

export const path = 'docs/results/README.md';
export const departuresPath = 'docs/results/departures.md';

function tableOf(found: readonly PublishedFinding[], lines: readonly RunLine[]): string {
  const rowOf = ({ says, words, when, any, run }: PublishedFinding): string[] => {
    const fits = only(when, any);
    const counted = [stock, shortened].map(
      (timers) =>
        textByRate(lines.filter(all(fits, timers)), (some) =>
          shareText(countOf(some, words, fits)),
        ) || '–',
    );
    return [says, words.join(' or '), ...counted, runLink(run)];
  };
  const head = ['Finding', 'Verdict', 'Stock timers', 'Short timers', 'One such run'];
  return markdownTable(head, found.map(rowOf));
}

export function findingTables(lines: readonly RunLine[]): string {
  const tables = Object.entries(findings).map(
    ([title, rows]) => `## ${title}\n\n${tableOf(rows, lines)}\n`,
  );
  return `\n\n${tables.join('\n')}\n`;
}

export const departuresTable = (lines: readonly RunLine[]): string =>
  `\n\n${tableOf(departures, lines)}\n`;

const runLink = (run: string | undefined): string =>
  run === undefined ? '–' : `[${run.split('/').at(-1)}](../../reports/${run}/summary.md)`;
