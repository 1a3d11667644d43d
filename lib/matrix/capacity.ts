/**
 * How much real work this machine carries side by side without starving any of it. Measured on two
 * cores with stock timers (docs/matrix.md, "What was run so far"): two events of eight volumes and a
 * single run kept time, 0.6 s at most; a third event of eight made timers 3.0 s late.
 */

/** Of a core, while a cluster waits; it takes more while it starts and while it audits. */
const clusterLoad = 0.4;
/** Of a core, each database with its clients. */
const volumeLoad = 0.05;
/** Two of eight and one alone are 2.05 on two cores, three of eight 2.4. */
const loadPerCore = 1.1;
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
