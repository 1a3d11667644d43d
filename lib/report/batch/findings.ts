/** What a batch found, in words: which value of its main axis came to what, and what one change does. */
import { plural, sumOf } from '../../core/index.ts';
import { type Batch, type BatchCell, type CellDifference, quoted } from '../../batch/index.ts';
import type { VerdictWord } from '../../judge/index.ts';

/** Worst first. */
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
  return first === cells.length ? `all of ${total} ${word}` : `${first} of ${total} ${word}${rest}`;
}

/** A change of one axis that changed verdicts in the same way. */
export interface PairFinding {
  readonly text: string;
  readonly axis: string;
  /** How many pairs changed so, and of how many that differ in this axis alone. */
  readonly changed: number;
  readonly pairs: number;
  /** Weight of the verdict that it came to: the larger, the worse. */
  readonly gravity: number;
}

/**
 * Those that hold in the most pairs first, then the gravest. What is worse than several others in the
 * same way is said once, with the pairs of all of them.
 */
export function pairFindings(
  batch: Pick<Batch, 'cells' | 'contrasts' | 'differences'>,
): PairFinding[] {
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
      const gravity = worstFirst.length - worstFirst.indexOf(toVerdict);
      return [{ text, axis, changed: group.length, pairs, gravity }];
    })
    .toSorted((a, b) => b.changed - a.changed || b.gravity - a.gravity);
}

/** The same difference told so that it goes from the better to the worse. */
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
