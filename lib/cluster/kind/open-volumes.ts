/** The volumes of a run on a real cluster: all databases start on one node, so that one fault meets them. */
import pLimit from 'p-limit';
import type { OpenStream } from '../../engine/line-stream.ts';
import type { BreakableTestbed, OpenedCluster, Testbed, TestbedOptions } from '../port.ts';
import type { KubeClients } from '../../kube.ts';
import type { Cluster } from './cluster.ts';
import { kindControlPlane } from './create/control-plane.ts';
import type { OpenCluster } from './create/open-cluster.ts';
import { nodeKubernetesOf } from './kubernetes.ts';
import { sharedStreams } from './observe/shared-streams.ts';
import { setSchedulable } from './run-scope.ts';
import type { RealClock } from '../../real-clock.ts';
import { openKindTestbed, type KindTestbed } from './testbed.ts';
import { restoreNodes } from './undo-remedies.ts';

interface KindVolumesOptions extends OpenCluster {
  readonly clock: RealClock;
  /** Other volumes are on the cluster, of this run or of others. */
  readonly isBeside: boolean;
}

/** Takes the cluster over: closing releases it, and so does an error here. */
export async function openKindVolumes(
  volumes: readonly TestbedOptions[],
  { cluster, images, clock, isBeside }: KindVolumesOptions,
): Promise<OpenedCluster<Testbed>> {
  // Undone in reverse order, each step whatever becomes of the others.
  await using opening = new AsyncDisposableStack();
  opening.defer(() => cluster.release());
  const clients = await cluster.kube();
  const audits = pLimit(1);
  const openStream: OpenStream = isBeside ? sharedStreams(volumes.length) : cluster.openStream;
  const open = (volume: TestbedOptions, index: number): Promise<KindTestbed> =>
    openKindTestbed({
      ...{ ...volume, images, clock, audits },
      cluster: { ...cluster, openStream },
      ...(isBeside ? { beside: index + 1 } : {}),
    });
  const opened = await startedTogether(clients, cluster, isBeside, () =>
    Promise.allSettled(volumes.map(open)),
  );
  opening.defer(() => closeAll(opened));
  // What goes with the cluster need not be mended before it.
  if (cluster.kept || isBeside) opening.defer(() => restoreNodes(cluster));
  const all = opening.move();
  return {
    cluster: breakable(clients, cluster, clock),
    volumes: opened,
    close: () => all.disposeAsync(),
  };
}

function breakable(clients: KubeClients, cluster: Cluster, clock: RealClock): BreakableTestbed {
  const { controlPlane, nodes } = cluster;
  return {
    ...{ clock, nodes },
    kubernetes: nodeKubernetesOf(clients, controlPlane),
    controlPlane: kindControlPlane(controlPlane),
    machine: (node) => cluster.machine(node),
    shell: (node) => cluster.machine(node).shell,
  };
}

/** Beside others all start on the first worker; once they are there, the other workers take pods, too. */
async function startedTogether<T>(
  clients: KubeClients,
  { nodes }: Cluster,
  isBeside: boolean,
  start: () => Promise<T>,
): Promise<T> {
  if (!isBeside) return start();
  await setSchedulable(clients, nodes.slice(1), false);
  try {
    return await start();
  } finally {
    await setSchedulable(clients, nodes, true);
  }
}

/** Side by side. Rejects with all that could not be removed. */
async function closeAll(opened: readonly PromiseSettledResult<KindTestbed>[]): Promise<void> {
  const there = opened.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  const closed = await Promise.allSettled(there.map((testbed) => testbed.close()));
  let failure: unknown;
  for (const each of closed) {
    if (each.status === 'fulfilled') continue;
    failure = failure === undefined ? each.reason : new SuppressedError(each.reason, failure);
  }
  if (failure !== undefined) throw failure;
}
