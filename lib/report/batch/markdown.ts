/** A batch as Markdown: the table, what the axes did, and whether it proves anything. */
import type { Batch, BatchCell, Rate } from '../../matrix/batch.ts';
import { scoreInWords } from '../mutant-score.ts';
import { secondsShown } from '../html-parts.ts';
import { escape } from '../summary.ts';
import { cellLosses } from '../loss-words.ts';
import { batchTitleOf } from './findings.ts';
import { cellExpectation } from '../wording.ts';

/** Differences that the table of them has at most; batch.json has all. */
export const mostDifferences = 30;

export const batchBasis: Readonly<Record<Batch['basis'], string>> = {
  predicted: 'predictions by the built-in model, not measurements',
  shortened: 'measured, with shortened timers',
  measured: 'measured, stock timers',
};

/** `picture`: a file beside the summary. */
export function renderBatchMarkdown(batch: Batch, picture?: string): string {
  const { sentence, question, basis, seed, cells, controls, checks } = batch;
  return [
    `### ${escape(batchTitleOf(batch))}`,
    '',
    escape(question),
    '',
    `${escape(sentence)}.`,
    '',
    `Basis: ${batchBasis[basis]}. Seed \`${seed.replaceAll('`', "'")}\`. ${rateLine(batch)}.`,
    '',
    ...batch.inconclusiveBecause.map((reason) => `- inconclusive: ${escape(reason)}`),
    '',
    ...(picture === undefined ? [] : [`![Verdicts](${picture})`, '']),
    '| Cell | verdict | damaged (95 %) | commits | downtime | two could write | second mount |',
    '| --- | --- | --- | ---: | ---: | ---: | ---: |',
    ...cells.map(cellRow),
    '',
    '| Control | holds |',
    '| --- | --- |',
    ...controls.map(({ role, label, trouble }) => {
      const holds = trouble === '' ? 'yes' : `**no**: ${escape(trouble)}`;
      return `| ${role}: ${escape(label)} | ${holds} |`;
    }),
    '',
    '| Run again, alone | verdict | before | agrees |',
    '| --- | --- | --- | --- |',
    ...checks.map(({ label, verdict, before, agrees }) => {
      const word = agrees === null ? 'not comparable' : agrees ? 'yes' : '**no**';
      return `| ${escape(label)} | ${verdict} | ${before.join(', ')} | ${word} |`;
    }),
    '',
    ...axesTable(batch),
    ...differencesTable(batch),
    `How good is the audit? ${escape(scoreInWords())}.`,
    '',
  ].join('\n');
}

export const rateLine = ({ eventsPerHour, busyS }: Batch): string =>
  `${eventsPerHour} conclusive fault events an hour, ${Math.round(busyS / 60)} min in all`;

export const lagLine = ({ worstTimerLagMs, timerDistortion }: Batch): string =>
  `timers ran ${(100 * timerDistortion).toFixed(2)} % late in the worst run, ` +
  `one ${worstTimerLagMs} ms`;

function cellRow(cell: BatchCell): string {
  const { label, median, asExpected, silent } = cell;
  const not = asExpected === false ? ` (**expected ${cellExpectation(cell)}**)` : '';
  const open = cell.open === true ? ` (${cellExpectation(cell)})` : '';
  const words = [
    escape(label),
    `${cell.verdict}${silent > 0 ? ', silent' : ''}${not}${open}`,
    rateText(cell.damaged),
    cellLosses(cell),
    ...[median.downtimeS, median.exposureS, median.secondMountS].map((s) =>
      s === null ? '–' : secondsShown(s),
    ),
  ];
  return `| ${words.join(' | ')} |`;
}

/** `2/3 (21–94 %)`. */
export function rateText({ count, of, low, high }: Rate): string {
  const percent = (share: number): string => (100 * share).toFixed(0);
  return of === 0 ? '–' : `${count}/${of} (${percent(low)}–${percent(high)} %)`;
}

function axesTable({ contrasts }: Batch): string[] {
  if (contrasts.length === 0) return [];
  return [
    '| Axis | from | to | pairs | changed | better | worse |',
    '| --- | --- | --- | ---: | ---: | ---: | ---: |',
    ...contrasts.map(({ axis, from, to, pairs, changed, better }) => {
      const words = [axis, from, to].map(escape);
      return `| ${words.join(' | ')} | ${pairs} | ${changed} | ${better} | ${changed - better} |`;
    }),
    '',
  ];
}

function differencesTable({ differences }: Batch): string[] {
  if (differences.length === 0) return [];
  const more = differences.length - mostDifferences;
  return [
    '| Differs in | where | verdicts | damage, more or less (95 %) |',
    '| --- | --- | --- | --- |',
    ...differences.slice(0, mostDifferences).map((each) => {
      const { axis, from, to, elsewhere, fromVerdict, toVerdict } = each;
      const where = elsewhere === '' ? 'everywhere' : elsewhere;
      const axisText = `${axis}: ${from} → ${to}`;
      const verdicts = `${fromVerdict} → ${toVerdict}`;
      return `| ${escape(axisText)} | ${escape(where)} | ${verdicts} | ${differenceText(each)} |`;
    }),
    ...(more > 0 ? ['', `… and ${more} more, in batch.json.`] : []),
    '',
  ];
}

/** `−100 % (−100 to −21)`. */
export function differenceText(
  difference: Pick<Batch['differences'][number], 'by' | 'low' | 'high'>,
): string {
  const { by, low, high } = difference;
  const signed = (share: number): string =>
    `${share > 0 ? '+' : share < 0 ? '−' : ''}${Math.abs(100 * share).toFixed(0)}`;
  return `${signed(by)} % (${signed(low)} to ${signed(high)})`;
}
