/** A batch in words: what it found, which value of its main axis came to what, what one change does; as Markdown. */
import {
  quoted,
  type Batch,
  type BatchCell,
  type CellDifference,
  type Rate,
} from '../../batch/index.ts';
import { scoreInWords } from '../mutant-score.ts';
import { plural, secondsShown, sumOf } from '../../core/index.ts';
import type { VerdictWord } from '../../judge/index.ts';
import { escape } from '../write.ts';
import { cellLosses } from '../loss-words.ts';
import { cellExpectation } from '../wording.ts';

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

const worstFirst = ['corrupt', 'lost', 'exposed', 'inconclusive', 'safe'] as const;

/** Words of a headline at most, as of a run's. */
const mostWords = 15;

const worstOf = (cells: readonly BatchCell[]): VerdictWord =>
  worstFirst.find((word) => cells.some(({ verdict }) => verdict === word)) ?? 'inconclusive';

/** Whether it was expected, apart from what was found. */
export const batchExpectation: Readonly<Record<Batch['verdict'], string>> = {
  expected: 'as expected',
  unexpected: 'NOT as expected',
  open: 'some cells have no baseline',
  inconclusive: 'proves nothing',
};

/** Colour and word: as a run's, what was found, expected or not. */
export const batchToneOf = ({ verdict, cells }: Pick<Batch, 'verdict' | 'cells'>): VerdictWord =>
  verdict === 'inconclusive' ? 'inconclusive' : worstOf(cells);

/** `CORRUPT: default (as expected)`. */
export const batchTitleOf = (batch: Pick<Batch, 'verdict' | 'cells' | 'name'>): string =>
  `${batchToneOf(batch).toUpperCase()}: ${batch.name} (${batchExpectation[batch.verdict]})`;

/** `Corrupt with unfenced, exposed with ack-early, safe with the 5 others`; else the counts. */
export function batchHeadlineOf(
  batch: Pick<Batch, 'axes' | 'cells' | 'inconclusiveBecause'>,
): string {
  if (batch.inconclusiveBecause.length > 0) return 'This batch proves nothing';
  const found = byMainAxis(batch);
  return found === undefined || found.split(' ').length > mostWords ? countsOf(batch) : found;
}

/** The worst that each label of the axis came to whose labels tell most of the verdicts. */
function byMainAxis({ axes, cells }: Pick<Batch, 'axes' | 'cells'>): string | undefined {
  const ofLabel = (name: string, label: string): BatchCell[] =>
    cells.filter(({ place }) => place[name] === label);
  const told = ({ name, labels }: Batch['axes'][number]): number =>
    sumOf(labels.map((label) => mostOfOneVerdict(ofLabel(name, label))));
  const [main] = axes.toSorted((a, b) => told(b) - told(a) || b.labels.length - a.labels.length);
  if (main === undefined) return undefined;
  const groups = Map.groupBy(
    main.labels.filter((label) => ofLabel(main.name, label).length > 0),
    (label) => worstOf(ofLabel(main.name, label)),
  );
  // With one verdict for all there is nothing to tell apart.
  if (groups.size < 2) return undefined;
  const words = worstFirst.flatMap((word) => {
    const labels = groups.get(word) ?? [];
    return labels.length === 0 ? [] : [`${word} with ${listed(labels, word === 'safe')}`];
  });
  const text = words.join(', ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** By name; the last group, where it is large, by its number. */
const listed = (labels: readonly string[], isRest: boolean): string =>
  isRest && labels.length > 2 ? `the ${labels.length} others` : named(labels, 'conjunction');

const named = (
  labels: readonly string[],
  type: 'conjunction' | 'disjunction' = 'disjunction',
): string => new Intl.ListFormat('en-GB', { type }).format(labels.map(quoted));

const mostOfOneVerdict = (cells: readonly BatchCell[]): number =>
  Math.max(
    0,
    ...[...Map.groupBy(cells, ({ verdict }) => verdict).values()].map((all) => all.length),
  );

/** `3 of 24 cells corrupt, 2 exposed, 19 safe`; of a lone cell, how often it came to it. */
function countsOf({ cells }: Pick<Batch, 'cells'>): string {
  const [only, ...more] = cells;
  if (only !== undefined && more.length === 0) {
    const { verdict, verdicts } = only;
    const { inconclusive, ...conclusive } = verdicts;
    const came = sumOf(Object.values(conclusive)) || inconclusive;
    return `${verdict} in ${verdicts[verdict] ?? 0} of ${plural(came, 'fault event')}`;
  }
  const counts = worstFirst
    .map((word) => [word, cells.filter(({ verdict }) => verdict === word).length] as const)
    .filter(([, count]) => count > 0);
  const total = plural(cells.length, 'cell');
  const [[word, first] = ['safe', 0], ...others] = counts;
  const rest = others.map(([name, count]) => `, ${count} ${name}`).join('');
  return first === cells.length
    ? `All ${total} are ${word}`
    : `${first} of ${total} ${word}${rest}`;
}

/**
 * Those that hold in the most pairs first, then the gravest. What is worse than several others in the
 * same way is said once, with the pairs of all of them.
 */
export function pairFindings(batch: Pick<Batch, 'cells' | 'contrasts' | 'differences'>): string[] {
  const cellOf = new Map(batch.cells.map((cell) => [cell.id, cell]));
  const groups = Map.groupBy(batch.differences.map(towardsHarm), (each) =>
    JSON.stringify([each.axis, each.to, each.fromVerdict, each.toVerdict]),
  );
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const { axis, to, fromVerdict, toVerdict, fromCell, toCell } = first;
      const froms = [...new Set(group.map(({ from }) => from))];
      const pairs = sumOf(froms.map((from) => pairsOf(batch, axis, from, to)));
      // Cells of several pairs may share a fault event, so that their events can't be added up.
      const rates =
        group.length > 1
          ? ''
          : ` (damaged: ${damagedIn(cellOf.get(fromCell))} fault events before, ` +
            `${damagedIn(cellOf.get(toCell))} after)`;
      const text =
        `Changing only ${axis} from ${named(froms)} to ${named([to])} turned ${fromVerdict} into ` +
        `${toVerdict} in ${group.length} of ${plural(pairs, 'pair')}${rates}`;
      return [{ text, changed: group.length, gravity: -worstFirst.indexOf(toVerdict) }];
    })
    .toSorted((a, b) => b.changed - a.changed || b.gravity - a.gravity)
    .map(({ text }) => text);
}

function towardsHarm(each: CellDifference): CellDifference {
  const gravity = (word: VerdictWord): number => worstFirst.indexOf(word);
  if (gravity(each.toVerdict) <= gravity(each.fromVerdict)) return each;
  const { from, to, fromCell, toCell, fromVerdict, toVerdict } = each;
  return {
    ...each,
    ...{ from: to, to: from, fromCell: toCell, toCell: fromCell },
    ...{ fromVerdict: toVerdict, toVerdict: fromVerdict },
  };
}

function pairsOf(
  { contrasts }: Pick<Batch, 'contrasts'>,
  axis: string,
  a: string,
  b: string,
): number {
  const found = contrasts.find(
    ({ axis: name, from, to }) =>
      name === axis && ((from === a && to === b) || (from === b && to === a)),
  );
  return found?.pairs ?? 0;
}

const damagedIn = (cell: BatchCell | undefined): string =>
  `${cell?.damaged.count ?? 0} of ${cell?.damaged.of ?? 0}`;
