/** Shards of one matrix, run apart, as one batch: all cells compared, every shard's controls count. */
import { UsageError, minorOf } from '../core/index.ts';
import { perHour, weakestBasis, type Batch } from './batch.ts';
import { conclude } from './summarize.ts';

export interface BatchShard {
  readonly batch: Batch;
  /** Path of its folder, as seen from the merged batch's. */
  readonly path: string;
}

/**
 * Throws UsageError `SHARDS_DIFFER` where they are of different matrices, ran on different
 * Kubernetes, or share a cell.
 */
export function mergeBatches(shards: readonly BatchShard[]): Batch {
  const [first, ...others] = shards.map(({ batch }) => batch);
  if (first === undefined) {
    throw new UsageError('NO_SHARDS', 'there is nothing to merge', {
      hint: 'give the new folder first, then the folder of each batch',
    });
  }
  const stranger = others.find((batch) => identity(batch) !== identity(first));
  if (stranger !== undefined) throw differ(`one is of ${identity(stranger)}`);
  const releases = kubernetesThatDiffer(shards.map(({ batch }) => batch));
  if (releases.length > 0) throw differ(`they ran on Kubernetes ${releases.join(' and ')}`);
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

/**
 * Cells may differ in it where the file says so: in an axis, or in one shard already. Then each minor
 * must be one patch in all of them. A shard in which no run came to its end says nothing.
 */
function kubernetesThatDiffer(batches: readonly Batch[]): string[] {
  const recorded = batches.map(({ versions }) => versions?.['kubernetes'] ?? []);
  const asked = batches.flatMap(({ axes }) =>
    axes.filter(({ name }) => name === 'kubernetes').flatMap(({ labels }) => labels),
  );
  const differsByFile =
    asked.length > 0 || recorded.some((all) => new Set(all.map(minorOf)).size > 1);
  const releases = [...new Set(recorded.flat())].filter((each) => !asked.includes(each)).toSorted();
  return releases.filter((each) =>
    releases.some(
      (other) => other !== each && (!differsByFile || minorOf(other) === minorOf(each)),
    ),
  );
}

const differ = (why: string): UsageError =>
  new UsageError('SHARDS_DIFFER', `these are not shards of one batch: ${why}`, {
    hint: 'run all shards of one file with the same --seed and --kubernetes',
  });

const withPaths = <K extends 'controls' | 'checks'>(
  shards: readonly BatchShard[],
  part: K,
): Batch[K] =>
  shards.flatMap(({ batch, path }) =>
    batch[part].map((each) => ({ ...each, folder: `${path}/${each.folder}` })),
  ) as Batch[K];
