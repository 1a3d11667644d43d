/** Gives every node back whatever a fault took, also one of a run that was killed. */
import type { Cluster } from '../cluster.ts';
import { mendControlPlane } from '../create/control-plane.ts';
import { restoreLink } from '../disk/disk-tool.ts';

/**
 * Whatever a fault left behind, all idempotent: the next run finds a whole cluster. The links come
 * first: a process that waits for the disk can neither be thawed nor ended.
 */
export async function restoreNodes(cluster: Cluster): Promise<void> {
  await mendControlPlane(cluster.controlPlane);
  for (const node of cluster.nodes) await restoreLink(cluster.lab, node);
  for (const node of cluster.nodes) await cluster.machine(node).mend();
}
