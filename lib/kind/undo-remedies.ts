/** What faults and remedies, also of a dead run, may have left on a cluster's nodes: taken back, all idempotent. */
import { containerShell } from './engine/container-shell.ts';
import { outOfServiceKey, type KubeClients } from '../core/index.ts';
import { mendControlPlane } from './create/control-plane.ts';
import { diskTool, type StorageNetwork } from './disk/disk.ts';
import type { Lab } from './disk/containers.ts';

/** Takes the taint away, and lets pods be scheduled again. `among`: only these nodes; default: all. */
export async function unmarkNodes({ core }: KubeClients, among?: readonly string[]): Promise<void> {
  for (const { metadata, spec } of (await core.listNode()).items) {
    const { name } = metadata ?? {};
    if (name === undefined || among?.includes(name) === false) continue;
    const taints = spec?.taints ?? [];
    const others = taints.filter(({ key }) => key !== outOfServiceKey);
    const body = [];
    if (others.length < taints.length) {
      body.push({ op: 'replace', path: '/spec/taints', value: others });
    }
    if (spec?.unschedulable) body.push({ op: 'remove', path: '/spec/unschedulable' });
    if (body.length > 0) await core.patchNode({ name, body });
  }
}

/** A kubelet makes its Node object when it starts: those whose object was deleted start anew. */
export async function registerNodes(
  { core }: KubeClients,
  containers: readonly string[],
): Promise<void> {
  const known = (await core.listNode()).items.map(({ metadata }) => metadata?.name);
  for (const node of containers.filter((each) => !known.includes(each))) {
    // One that is frozen or cut off cannot: then it never joins, and the cluster is replaced.
    await containerShell(node).run(['systemctl', 'restart', 'kubelet'], { timeoutMs: 30_000 });
  }
}

interface StruckNodes {
  readonly controlPlane: string;
  readonly nodes: readonly string[];
  readonly lab: Lab;
  readonly storage?: StorageNetwork | undefined;
  machine(node: string): { mend(): Promise<void> };
}

/**
 * Whatever a fault left behind: the next run finds a whole cluster. The links come first: a process that waits for the disk can neither be thawed nor ended.
 */
export async function restoreNodes(cluster: StruckNodes): Promise<void> {
  await mendControlPlane(cluster.controlPlane);
  for (const node of cluster.nodes) {
    await diskTool(cluster.lab, 'restore', { node });
    await cluster.storage?.join(node);
    await diskTool(cluster.lab, 'fail-held', { node });
  }
  for (const node of cluster.nodes) await cluster.machine(node).mend();
}
