/** Shards of one matrix, run apart, as one batch: all cells compared, every shard's controls count. */
import { UsageError } from '../errors.ts';
import type { Batch } from './batch.ts';
import { perHour, weakestBasis } from './figures.ts';
import { conclude } from './summarize.ts';

export interface Shard {
  readonly batch: Batch;
  /** Of its folder, as seen from the merged batch's. */
  readonly path: string;
}

/**
 * Throws UsageError `SHARDS_DIFFER` where they are of different matrices, of different versions of
 * Kubernetes, or share a cell.
 */
export function mergeBatches(shards: readonly Shard[]): Batch {
  const [first, ...others] = shards.map(({ batch }) => batch);
  if (first === undefined) throw new UsageError('NO_SHARDS', 'there is nothing to merge');
  const stranger = others.find((batch) => identity(batch) !== identity(first));
  if (stranger !== undefined) throw differ(`one is of ${identity(stranger)}`);
  const kubernetes = new Set([first, ...others].map(({ versions }) => kubernetesIn(versions)));
  // A matrix that compares versions has several on purpose.
  if (kubernetes.size > 1 && !first.axes.some(({ name }) => name === 'kubernetes')) {
    throw differ(`they are of Kubernetes ${[...kubernetes].join(' and ')}`);
  }
  const cells = shards.flatMap(({ batch, path }) =>
    batch.cells.map((cell) => ({
      ...cell,
      runs: cell.runs.map((run) => ({ ...run, folder: `${path}/${run.folder}` })),
    })),
  );
  const twice = cells.find(({ id }, index) => cells.findIndex((each) => each.id === id) < index);
  if (twice !== undefined) throw differ(`${twice.id} is in two of them`);
  const batches = [first, ...others];
  const total = (of: (batch: Batch) => number): number =>
    batches.reduce((sum, batch) => sum + of(batch), 0);
  const busyS = total((batch) => batch.busyS);
  const events = total((batch) => batch.events);
  return {
    ...first,
    ...conclude({
      axes: first.axes,
      cells: cells.toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true })),
      controls: withPaths(shards, 'controls'),
      checks: withPaths(shards, 'checks'),
      events,
    }),
    versions: together(batches),
    basis: weakestBasis(batches.map(({ basis }) => basis)),
    startedAt: batches.map(({ startedAt }) => startedAt).toSorted()[0] ?? first.startedAt,
    busyS,
    eventsPerHour: perHour(events, busyS),
    worstTimerLagMs: Math.max(...batches.map((batch) => batch.worstTimerLagMs)),
    timerDistortion: Math.max(...batches.map((batch) => batch.timerDistortion)),
  };
}

const identity = ({ name, seed, cluster, axes }: Batch): string =>
  `${name} on ${cluster} with seed ${seed} and axes ${JSON.stringify(axes)}`;

const kubernetesIn = (versions: Batch['versions']): string =>
  versions?.['kubernetes']?.join(', ') ?? 'an unknown version';

/** Each name with all the values that any of them has. */
function together(batches: readonly Batch[]): Record<string, string[]> {
  const names = new Set(batches.flatMap(({ versions = {} }) => Object.keys(versions)));
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      [...new Set(batches.flatMap(({ versions }) => versions?.[name] ?? []))].toSorted(),
    ]),
  );
}

const differ = (why: string): UsageError =>
  new UsageError('SHARDS_DIFFER', `these are no shards of one batch: ${why}`, {
    hint: 'run all shards of one file with the same --seed and the same --kubernetes',
  });

function withPaths<K extends 'controls' | 'checks'>(shards: readonly Shard[], part: K): Batch[K] {
  return shards.flatMap(({ batch, path }) =>
    batch[part].map((each) => ({ ...each, folder: `${path}/${each.folder}` })),
  ) as Batch[K];
}
