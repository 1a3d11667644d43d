/** The backend `kind`: images, a cluster of our own, and testbeds on it, with one server each or with a group. */
import pLimit from 'p-limit';
import { groupSize } from '../scenario/index.ts';
import { type KubeClients, type RealClock, realClock } from '../core/index.ts';
import type { Backend, OpenedCluster, Testbed, TestbedOptions } from '../run/index.ts';
import { type Cluster, type ClusterChoice, type OpenCluster, openCluster } from './cluster.ts';
import { scopeBeside, setSchedulable, soleScope } from './scope.ts';
import { openGroupTestbed } from './group/group-testbed.ts';
import { sharedStreams } from './observe/shared-streams.ts';
import type { Pool, PooledClusters } from './pooled-clusters.ts';
import { breakable, type KindTestbed, openKindTestbed } from './testbed.ts';
import { restoreNodes } from './undo-remedies.ts';

/** The nodes that a run has of a cluster which others use, too. */
export interface PoolChoice {
  readonly clusters: PooledClusters;
  readonly pool: Pool;
}

/** `pooled`: the cluster is shared with other runs. Default: the run has one of its own. */
export function kindBackend(choice: ClusterChoice = {}, pooled?: PoolChoice): Backend {
  const clock = realClock();
  return {
    backend: 'kind',
    isModel: false,
    clock,
    async open(volumes) {
      const [first] = volumes;
      if (first === undefined) throw new RangeError('a run has at least one volume');
      const opened = await (pooled === undefined
        ? openCluster(choice, first)
        : pooled.clusters.join(pooled.pool, choice, first));
      const isShared = pooled !== undefined || volumes.length > 1;
      return openKindVolumes(volumes, { ...opened, clock, isShared });
    },
    async openGroup(request) {
      const { workers = groupSize } = choice;
      const opened = await openCluster({ ...choice, workers }, request);
      return openGroupTestbed({ ...request, ...opened, clock });
    },
  };
}

interface KindVolumesOptions extends OpenCluster {
  readonly clock: RealClock;
  /** Other volumes are on the cluster, of this run or of others. */
  readonly isShared: boolean;
}

/** Takes the cluster over: closing releases it, and so does an error here. */
export async function openKindVolumes(
  volumes: readonly TestbedOptions[],
  { cluster, images, clock, isShared }: KindVolumesOptions,
): Promise<OpenedCluster<Testbed>> {
  // Undone in reverse order, each step whatever becomes of the others.
  await using opening = new AsyncDisposableStack();
  opening.defer(() => cluster.release());
  const clients = await cluster.kube();
  const auditsInTurn = pLimit(1);
  const own = isShared ? { ...cluster, openStream: sharedStreams(volumes.length) } : cluster;
  const open = (volume: TestbedOptions, index: number): Promise<KindTestbed> => {
    const place = {
      scope: isShared ? scopeBeside(volume.database, volume.runId) : soleScope(volume.database),
      isShared,
      copyLabel: (image: string) => (isShared ? `${cluster.pool}-${index + 1}-${image}` : image),
      auditsInTurn,
    };
    return openKindTestbed({ ...volume, images, clock, place, cluster: own });
  };
  const opened = await startedTogether(clients, cluster, isShared, () =>
    Promise.allSettled(volumes.map(open)),
  );
  opening.defer(() => closeAll(opened));
  // What goes with the cluster need not be mended before it.
  if (cluster.kept || isShared) opening.defer(() => restoreNodes(cluster));
  const all = opening.move();
  return {
    cluster: breakable(cluster, clients, clock),
    volumes: opened,
    close: () => all.disposeAsync(),
  };
}

/** Beside others all start on the first worker, so that one fault meets them; the other workers take pods once they are there. */
async function startedTogether<T>(
  clients: KubeClients,
  { nodes }: Cluster,
  isShared: boolean,
  start: () => Promise<T>,
): Promise<T> {
  if (!isShared) return start();
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
