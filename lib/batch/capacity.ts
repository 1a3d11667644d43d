/**
 * How much real work this machine carries side by side without starving any of it. Measured on two
 * cores, with a commit a second and client, while all wait (docs/reference/matrix.md, "What was run so far"):
 * two events of eight volumes and a single run take 0.84 to 0.99 of a core.
 */
import type { Slot } from './schedule.ts';

/** Share of a core: a control plane, and what watches it. */
const clusterLoad = 0.16;
/** Share of a core: the two nodes of a fault event, and what watches them. */
const eventLoad = 0.02;
/** Share of a core: each database with its clients. */
const volumeLoad = 0.025;
/**
 * The rest is for starts, copies and audits. Two events of eight and two runs alone are 1.17 on two
 * cores. More was too much when databases cost more, and was not tried with stock timers since then.
 */
const loadPerCore = 0.59;
/** A cluster and eight databases at their peak, and what the start of a cluster asks to be free. */
const memoryPerSlot = 4 * 1024 ** 3;

/**
 * With shortened timers nothing waits, and a cluster more only takes: 100 s of a core to be made, 0.13
 * of one from then on. Two cores made the default file in 16.6 min with three.
 */
const shortenedClustersPerCore = 1.5;

/** What fault events with so many volumes take in these slots, in cores. */
export function scheduledLoad(
  events: readonly { readonly volumes: number; readonly slot: Slot }[],
): number {
  const clusters = new Set(events.map(({ slot }) => slot.cluster));
  const volumes = events.reduce((sum, event) => sum + event.volumes, 0);
  return clusters.size * clusterLoad + events.length * eventLoad + volumes * volumeLoad;
}

/** What so many cores carry at once. */
export const loadLimitOf = (cores: number): number => cores * loadPerCore;

/**
 * Pools of each cluster: as many as are asked for in the first, one in the others, which are for runs
 * that have a cluster to themselves. At least one: a machine that is too small says so itself when
 * the cluster starts.
 */
export function clustersFor(
  machine: { readonly cores: number; readonly availableMemoryBytes: number },
  { pools, isShortened }: { readonly pools: number; readonly isShortened: boolean },
): readonly number[] {
  const { cores, availableMemoryBytes } = machine;
  const slots = Math.max(1, Math.floor(availableMemoryBytes / memoryPerSlot));
  const first = Math.min(pools, slots);
  const byCores = isShortened
    ? Math.floor(cores * shortenedClustersPerCore)
    : Math.floor(loadLimitOf(cores) / (clusterLoad + eventLoad + volumeLoad));
  const others = Math.max(0, Math.min(slots - first, byCores - 1));
  return [first, ...Array.from({ length: others }, () => 1)];
}

/** `matrix-1/2` is the second pool of the cluster `matrix-1`; a cluster of one has its name. */
export const slotsOf = (cluster: string, pools: number): Slot[] =>
  Array.from({ length: pools }, (_, index) => ({
    cluster,
    name: pools === 1 ? cluster : `${cluster}/${index + 1}`,
  }));
