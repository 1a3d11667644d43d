/** A batch beside a pinned one: which cells came out otherwise, and what else is not the same. */
import type { Batch, BatchCell } from '../../batch/index.ts';
import { difference } from '../../core/index.ts';
import type { VerdictOf } from './phases.ts';

export interface TrendRow {
  readonly label: string;
  readonly was: BatchCell;
  readonly is: BatchCell;
  readonly verdictChanged: boolean;
  /** Change of the rate of damage, with Newcombe's 95 % interval. */
  readonly damage: { readonly by: number; readonly low: number; readonly high: number };
  /** Change of the median downtime, seconds; null where either has none. */
  readonly downtimeS: number | null;
}

export interface Trend {
  readonly rows: readonly TrendRow[];
  /** Cells that only one of them has. */
  readonly added: readonly string[];
  readonly gone: readonly string[];
  /** Name, then what it was and what it is. */
  readonly conditions: readonly (readonly [name: string, was: string, is: string])[];
}

/** Cells are the same where their labels are; verdicts that changed come first. */
export function trendOf(was: Batch, is: Batch): Trend {
  const before = new Map(was.cells.map((cell) => [cell.label, cell]));
  const now = new Set(is.cells.map(({ label }) => label));
  const rows = is.cells.flatMap((cell): TrendRow[] => {
    const old = before.get(cell.label);
    return old === undefined ? [] : [rowOf(old, cell)];
  });
  return {
    rows: rows.toSorted((a, b) => Number(b.verdictChanged) - Number(a.verdictChanged)),
    added: [...now].filter((label) => !before.has(label)),
    gone: [...before.keys()].filter((label) => !now.has(label)),
    conditions: changedConditions(was, is),
  };
}

function rowOf(was: BatchCell, is: BatchCell): TrendRow {
  const [a, b] = [was.median.downtimeS, is.median.downtimeS];
  return {
    label: is.label,
    was,
    is,
    verdictChanged: was.verdict !== is.verdict,
    damage: difference(was.damaged, is.damaged),
    downtimeS: a === null || b === null ? null : b - a,
  };
}

/** What may explain a change: versions, images, backend, timers; the seed is another each time. */
function changedConditions(was: Batch, is: Batch): Trend['conditions'] {
  const [before, now] = [conditionsOf(was), conditionsOf(is)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return names
    .map((name) => [name, before[name] ?? 'not recorded', now[name] ?? 'not recorded'] as const)
    .filter(([, a, b]) => a !== b);
}

const conditionsOf = ({ cluster, basis, seed, versions = {} }: Batch): Record<string, string> => ({
  backend: cluster,
  basis,
  seed,
  ...Object.fromEntries(Object.entries(versions).map(([name, all]) => [name, all.join(', ')])),
});

/** Every version that the runs of a batch recorded, each name with all its values. */
export function batchVersionsOf(
  { cells }: Pick<Batch, 'cells'>,
  verdictOf: VerdictOf,
): Record<string, string[]> {
  const versions = new Map<string, Set<string>>();
  for (const { folder } of cells.flatMap(({ runs }) => runs)) {
    for (const [name, value] of Object.entries(verdictOf(folder)?.versions ?? {})) {
      versions.set(name, (versions.get(name) ?? new Set()).add(value));
    }
  }
  return Object.fromEntries([...versions].map(([name, values]) => [name, [...values].toSorted()]));
}

/** Those that people would not know by the name that runs record. */
const names: Readonly<Record<string, string>> = {
  kubernetes: 'Kubernetes',
  mysql: 'MySQL',
  images: 'source of the images',
  node: 'Node.js',
};

const harness = 'forcedetach';
const image = 'image ';

/** Kubernetes first, then the harness and the images: what may explain a change of a verdict. */
export function conditionsInWords(conditions: Trend['conditions']): string {
  const find = (wanted: string): Trend['conditions'] =>
    conditions.filter(([name]) => name === wanted);
  const images = conditions.flatMap(([name]) =>
    name.startsWith(image) ? [name.slice(image.length)] : [],
  );
  const others = conditions.filter(
    ([name]) => !['kubernetes', harness, 'seed'].includes(name) && !name.startsWith(image),
  );
  const words = [
    ...find('kubernetes').map(changed),
    ...find(harness).map(([, was, is]) => harnessWords(was, is)),
    ...(images.length === 0 ? [] : [`images: ${images.join(', ')}`]),
    ...others.map(changed),
  ];
  if (words.length > 0) return `${words.join('; ')}.`;
  // The seed is another each time: it explains chance only.
  return conditions.length === 0 ? 'Nothing that the runs record.' : 'Nothing but the seed.';
}

const changed = ([name, was, is]: Trend['conditions'][number]): string =>
  `${names[name] ?? name}: ${was} → ${is}`;

/** Batches of before recorded the project's version without a hash of the source. */
const harnessWords = (was: string, is: string): string =>
  was.includes('+') && is.includes('+')
    ? 'the harness'
    : 'perhaps the harness (one of the two did not record its source)';
