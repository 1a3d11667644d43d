/** How many real clusters this machine carries side by side without starving one. */

/** A cluster waits most of the time: 0.4 of a core were measured, more while it starts and audits. */
const coresPerCluster = 1;
/** 2.3 GiB at the peak, and what the start of a cluster asks to be free. */
const memoryPerCluster = 4 * 1024 ** 3;

/** At least one: a machine that is too small says so itself when the cluster starts. */
export function clustersFor(machine: {
  readonly cores: number;
  readonly availableMemoryBytes: number;
}): number {
  const { cores, availableMemoryBytes } = machine;
  const byCores = Math.floor(cores / coresPerCluster);
  const byMemory = Math.floor(availableMemoryBytes / memoryPerCluster);
  return Math.max(1, Math.min(byCores, byMemory));
}
