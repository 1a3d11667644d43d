/** What one change did: pairs of cells that differ in one axis, and labels that differ in one thing. */
import type { Batch, BatchCell, CellDifference } from './batch.ts';
import { difference } from '../core/index.ts';
import { placeInWords } from './place.ts';
import { compareGrades, gradeOf } from './expectations/severity.ts';
import { clientTiming, indifferentNames, timing } from './expectations/scenario-key.ts';
import { contradictions, type Scenario } from '../scenario/index.ts';
import type { Cell } from './cells.ts';
import type { Axis } from './matrix-schema.ts';

type Compared = Pick<Batch, 'contrasts' | 'differences'>;

/** Cells outside the grid, and those that came to no verdict, are compared with nothing. */
export function comparePairs({ axes, cells }: Pick<Batch, 'axes' | 'cells'>): Compared {
  const names = axes.map(({ name }) => name);
  const byPlace = new Map(
    cells
      .filter(({ place, verdict }) => Object.keys(place).length > 0 && verdict !== 'inconclusive')
      .map((cell) => [placeKey(names, cell.place), cell]),
  );
  const differences: CellDifference[] = [];
  const contrasts = axes.flatMap(({ name, labels, unlike = [] }) =>
    labels.flatMap((from, index) =>
      labels
        .slice(index + 1)
        .filter(isLike(from, unlike))
        .map((to) => {
          const pairs = [...byPlace.values()]
            .filter(({ place }) => place[name] === from)
            .flatMap((cell) => {
              const twin = byPlace.get(placeKey(names, { ...cell.place, [name]: to }));
              return twin === undefined ? [] : [{ axis: name, from, to, cell, twin }];
            });
          const changed = pairs.filter((pair) => orderOf(pair) !== 0);
          differences.push(...changed.map(describe));
          const better = changed.filter((pair) => orderOf(pair) > 0).length;
          return { axis: name, from, to, pairs: pairs.length, changed: changed.length, better };
        }),
    ),
  );
  return { contrasts, differences };
}

const isLike =
  (from: string, unlike: readonly (readonly [string, string])[]) =>
  (to: string): boolean =>
    !unlike.some(([a, b]) => a === from && b === to);

interface Pair {
  readonly axis: string;
  readonly from: string;
  readonly to: string;
  readonly cell: BatchCell;
  readonly twin: BatchCell;
}

const placeKey = (names: readonly string[], place: BatchCell['place']): string =>
  JSON.stringify(names.map((name) => place[name]));

/** Above zero where the twin is the better. */
function orderOf({ cell, twin }: Pair): number {
  const [a, b] = [gradeOf(cell.verdict), gradeOf(twin.verdict)];
  return a === undefined || b === undefined ? 0 : compareGrades(a, b);
}

function describe({ axis, from, to, cell, twin }: Pair): CellDifference {
  const { [axis]: _own, ...others } = cell.place;
  return {
    axis,
    from,
    to,
    elsewhere: placeInWords(others),
    fromCell: cell.id,
    toCell: twin.id,
    fromVerdict: cell.verdict,
    toVerdict: twin.verdict,
    ...difference(cell.damaged, twin.damaged),
  };
}

/** Pairs of labels. Of a list of unlike cases most of them; none of an axis that is a field. */
export function unlikeLabels({ name, values }: Axis, cells: readonly Cell[]): [string, string][] {
  const labels = values.map(({ label }) => label);
  const elsewhere = ({ place }: Cell): string => JSON.stringify({ ...place, [name]: '' });
  const byPlace = [...Map.groupBy(cells, elsewhere).values()].map(
    (group) => new Map(group.map(({ place, scenario }) => [place[name], scenario])),
  );
  const areUnlike = (from: string, to: string): boolean =>
    byPlace.some((scenarios) => {
      const [a, b] = [scenarios.get(from), scenarios.get(to)];
      return a !== undefined && b !== undefined && !isOneChange(a, b);
    });
  return labels.flatMap((from, index) =>
    labels
      .slice(index + 1)
      .filter((to) => areUnlike(from, to))
      .map((to): [string, string] => [from, to]),
  );
}

const notDone = new Set<string>([...timing, ...clientTiming, ...indifferentNames]);

/** Fields that only change together are one change: what cuts `ack-early` off comes with that disk. */
function isOneChange(a: Scenario, b: Scenario): boolean {
  const fields = Object.keys({ ...a, ...b }) as (keyof Scenario)[];
  const changed = fields.filter(
    (field) => !notDone.has(field) && JSON.stringify(a[field]) !== JSON.stringify(b[field]),
  );
  const fits = (scenario: Scenario, other: Scenario, field: keyof Scenario): boolean =>
    contradictions({ ...scenario, [field]: other[field] }).length === 0;
  const alone = changed.filter((field) => fits(a, b, field) && fits(b, a, field));
  return alone.length + (alone.length < changed.length ? 1 : 0) <= 1;
}
