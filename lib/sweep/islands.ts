/**
 * Islands: a sweep learns within each, and nothing from one to the next. So islands can be played
 * side by side, on machines that know nothing of each other, and come to the same sweep.
 */
import { UsageError } from '../errors.ts';

/** Many enough for nearly all of its schedules to gain from what it learns. A number of rounds. */
export const islandSchedules = 40_000;

/** Where the island of a schedule ends: the index of the first schedule behind it. */
export const islandEnd = (index: number): number =>
  (Math.floor(index / islandSchedules) + 1) * islandSchedules;

/** Schedules in a row that one machine plays: whole islands, but for the ends of the sweep. */
export interface Shard {
  /** Index of the first one. */
  readonly from: number;
  /** Index behind the last one. */
  readonly until: number;
}

/** The islands of these schedules. */
export const islandCount = (from: number, until: number): number =>
  Math.ceil(until / islandSchedules) - Math.floor(from / islandSchedules);

/** As even shards as islands allow. Throws UsageError `TOO_MANY_SHARDS`. */
export function shardsOf(from: number, until: number, count: number): Shard[] {
  const islands = islandCount(from, until);
  if (islands < count) {
    throw new UsageError(
      'TOO_MANY_SHARDS',
      `${until - from} schedules can't be split into ${count} shards`,
      {
        hint:
          `a shard plays whole islands of ${islandSchedules} schedules; give more --schedules, ` +
          `or at most --shards ${islands}`,
      },
    );
  }
  const first = Math.floor(from / islandSchedules);
  const edge = (shard: number): number =>
    (first + Math.floor((shard * islands) / count)) * islandSchedules;
  return Array.from({ length: count }, (_, shard) => ({
    from: Math.max(from, edge(shard)),
    until: Math.min(until, edge(shard + 1)),
  }));
}
