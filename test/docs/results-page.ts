/** The tables of docs/results/README.md: each finding with the fault events that it rests on, counted from the store. */
import { countOf } from './count-events.ts';
import { all, only, shareText, shortened, stock, textByRate } from '../../lib/batch/counted.ts';
import type { RunLine } from '../../lib/batch/measurements.ts';
import { findings, type PublishedFinding } from './findings.ts';
import { markdownTable } from '../../lib/core/numbers.ts';

export const path = 'docs/results/README.md';

export function findingTables(lines: readonly RunLine[]): string {
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
  const tables = Object.entries(findings).map(
    ([title, rows]) => `## ${title}\n\n${markdownTable(head, rows.map(rowOf))}\n`,
  );
  return `\n\n${tables.join('\n')}\n`;
}

const runLink = (run: string | undefined): string =>
  run === undefined ? '–' : `[${run.split('/').at(-1)}](../../reports/${run}/summary.md)`;
