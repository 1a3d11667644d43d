/** The backend `kind`: images, a cluster of our own, and testbeds on it, with one server each or with a group. */
import { groupSize } from '../../database/kinds/group-replication.ts';
import type { Backend } from '../port.ts';
import { openCluster, type ClusterChoice } from './create/open-cluster.ts';
import { openGroupTestbed } from './group/group-testbed.ts';
import { openKindVolumes } from './open-volumes.ts';
import type { Pool, PooledClusters } from './pooled-clusters.ts';
import { realClock } from '../../real-clock.ts';

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
      const isBeside = pooled !== undefined || volumes.length > 1;
      return openKindVolumes(volumes, { ...opened, clock, isBeside });
    },
    async openGroup(request) {
      const { workers = groupSize } = choice;
      const opened = await openCluster({ ...choice, workers }, request);
      return openGroupTestbed({ ...request, ...opened, clock });
    },
  };
}
