/** A batch as Markdown: the table, what the axes did, and whether it proves anything. */
import type { Batch, BatchCell, Rate } from '../../batch/index.ts';
import { scoreInWords } from '../mutant-score.ts';
import { secondsShown } from '../../core/index.ts';
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

/** Heads of columns of numbers end with a colon. */
const rows = (
  heads: readonly string[],
  lines: readonly (readonly (string | number)[])[],
): string[] => [
  `| ${heads.map((head) => head.replace(/:$/, '')).join(' | ')} |`,
  `| ${heads.map((head) => (head.endsWith(':') ? '---:' : '---')).join(' | ')} |`,
  ...lines.map((cells) => `| ${cells.join(' | ')} |`),
  '',
];

/** `picture`: a file beside the summary. */
export function renderBatchMarkdown(batch: Batch, picture?: string): string {
  const { sentence, question, basis, seed, cells, controls, checks, contrasts } = batch;
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
    ...rows(
      [
        ...['Cell', 'verdict', 'damaged (95 %)', 'commits:', 'downtime:'],
        ...['two could write:', 'second mount:'],
      ],
      cells.map(cellWords),
    ),
    ...rows(
      ['Control', 'holds'],
      controls.map(({ role, label, trouble }) => [
        `${role}: ${escape(label)}`,
        trouble === '' ? 'yes' : `**no**: ${escape(trouble)}`,
      ]),
    ),
    ...rows(
      ['Run again, alone', 'verdict', 'before', 'agrees'],
      checks.map(({ label, verdict, before, agrees }) => [
        ...[escape(label), verdict, before.join(', ')],
        agrees === null ? 'not comparable' : agrees ? 'yes' : '**no**',
      ]),
    ),
    ...(contrasts.length === 0
      ? []
      : rows(
          ['Axis', 'from', 'to', 'pairs:', 'changed:', 'better:', 'worse:'],
          contrasts.map(({ axis, from, to, pairs, changed, better }) => [
            ...[axis, from, to].map(escape),
            ...[pairs, changed, better, changed - better],
          ]),
        )),
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

function cellWords(cell: BatchCell): string[] {
  const { label, median, asExpected, silent } = cell;
  const not = asExpected === false ? ` (**expected ${cellExpectation(cell)}**)` : '';
  const open = cell.open === true ? ` (${cellExpectation(cell)})` : '';
  return [
    escape(label),
    `${cell.verdict}${silent > 0 ? ', silent' : ''}${not}${open}`,
    rateText(cell.damaged),
    cellLosses(cell),
    ...[median.downtimeS, median.exposureS, median.secondMountS].map((s) =>
      s === null ? '–' : secondsShown(s),
    ),
  ];
}

/** `2/3 (21–94 %)`. */
export function rateText({ count, of, low, high }: Rate): string {
  const percent = (share: number): string => (100 * share).toFixed(0);
  return of === 0 ? '–' : `${count}/${of} (${percent(low)}–${percent(high)} %)`;
}

function differencesTable({ differences }: Batch): string[] {
  if (differences.length === 0) return [];
  const more = differences.length - mostDifferences;
  const lines = differences
    .slice(0, mostDifferences)
    .map((each) => [
      escape(`${each.axis}: ${each.from} → ${each.to}`),
      escape(each.elsewhere === '' ? 'everywhere' : each.elsewhere),
      `${each.fromVerdict} → ${each.toVerdict}`,
      differenceText(each),
    ]);
  return [
    ...rows(['Differs in', 'where', 'verdicts', 'damage, more or less (95 %)'], lines),
    ...(more > 0 ? [`… and ${more} more, in batch.json.`, ''] : []),
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
