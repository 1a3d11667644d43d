/** Removes a cluster with everything that it made on the machine, and nothing else. */
import * as engine from '../../engine/commands.ts';
import { run } from '../../engine/run.ts';
import { awaitLateContainers } from './late-containers.ts';
import { arrayName, engineName, type ClusterLabels } from './labels.ts';
import { leaseAt } from './lease.ts';
import type { LeaseHold } from './lease-hold.ts';
import { releaseLoops } from './loops.ts';
import { findCluster, type FoundCluster } from './registry.ts';
import { isComplete, removeStateDir } from './state-dir.ts';

/** A node with eight volumes on a busy machine takes 20 s. */
const removalTimeoutMs = 120_000;

/**
 * Each step may find its part gone. Resolves to what stays, each with the reason. Takes the lease, and
 * where another has that, only loop devices with files of this cluster.
 */
export async function removeCluster(
  { labels, ...found }: FoundCluster,
  hold: LeaseHold,
): Promise<string[]> {
  const name = engineName(labels.cluster);
  await removeContainers(labels.cluster, found.containers);
  const left = found.foreign.map((thing) => `${thing} is not provably ours`);
  if (!isComplete(labels.stateDir, labels.token))
    left.push(...(await removeLateContainers(labels)));
  // Loops before the volume: the files in it tell which are ours.
  if (found.hasVolume) {
    const holdsLease = found.holdsLease && (await hold.take(labels.index));
    const { loops } = leaseAt(labels.index);
    left.push(...(await releaseLoops({ loops, holdsLease, volume: name, tools: labels.tools })));
    await run(engine.removeVolume(name));
  }
  const directory = await removeStateDir(labels.stateDir, labels.token);
  if (directory !== undefined) left.push(directory);
  // The network last: it is the lease.
  if (found.hasNetwork) await run(engine.removeNetwork(name));
  return left;
}

/**
 * Does what `kind delete cluster` does, so that cleaning up needs no kind binary. The array goes
 * first: a process that waits for a request which it holds can't be killed until that fails.
 */
async function removeContainers(cluster: string, found: readonly string[]): Promise<void> {
  const array = arrayName(cluster);
  if (found.includes(array)) await run(engine.remove(array));
  const containers = found.filter((container) => container !== array);
  if (containers.length === 0) return;
  await run(engine.removeWhole(...containers), { timeoutMs: removalTimeoutMs });
}

/** Those whose creation was cut off. Resolves to what stays. */
async function removeLateContainers(labels: ClusterLabels): Promise<string[]> {
  const { cluster } = labels;
  const taken = await awaitLateContainers(labels, async () =>
    removeContainers(cluster, (await findCluster(cluster))?.containers ?? []),
  );
  return taken.map((name) => `${name} is still being made`);
}
