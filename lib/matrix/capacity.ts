/**
 * How much real work this machine carries side by side without starving any of it. Measured on two
 * cores with stock timers (docs/matrix.md, "What was run so far"): two events of eight volumes and a
 * single run kept time, 0.6 s at most, or were 1.3 % late at the worst, on another day; an event and
 * three single runs made them 2.0 % late, a third event of eight 3.0 s.
 */

/** Of a core, while a cluster waits; it takes more while it starts and while it audits. */
const clusterLoad = 0.4;
/** Of a core, each database with its clients. */
const volumeLoad = 0.05;
/** Two of eight and one alone are 2.05 on two cores, one of eight and three alone 2.15. */
const loadPerCore = 1.05;
/** 2.3 GiB at the peak, and what the start of a cluster asks to be free. */
const memoryPerCluster = 4 * 1024 ** 3;

/** What a fault event with so many volumes takes, in cores. */
export const eventLoad = (volumes: number): number => clusterLoad + volumes * volumeLoad;

/** What so many cores carry at once. */
export const loadLimitOf = (cores: number): number => cores * loadPerCore;

/** At least one: a machine that is too small says so itself when the cluster starts. */
export function clustersFor(machine: {
  readonly cores: number;
  readonly availableMemoryBytes: number;
}): number {
  const { cores, availableMemoryBytes } = machine;
  const byCores = Math.floor(loadLimitOf(cores) / eventLoad(1));
  const byMemory = Math.floor(availableMemoryBytes / memoryPerCluster);
  return Math.max(1, Math.min(byCores, byMemory));
}
