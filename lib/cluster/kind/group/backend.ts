/** Images, a cluster of our own, and a replication group on it. */
import type { GroupTestbed } from '../../../group-replication/port.ts';
import { openCluster, type ClusterChoice } from '../create/open-cluster.ts';
import { realClock, type RealClock } from '../real-clock.ts';
import { openGroupTestbed, type GroupTestbedOptions } from './group-testbed.ts';

type GroupRequest = Omit<GroupTestbedOptions, 'cluster' | 'images' | 'clock'>;

export interface GroupBackend {
  /** Runs from now, which is the beginning of the run. */
  readonly clock: RealClock;
  open(request: GroupRequest): Promise<GroupTestbed>;
}

export function openGroup(choice: ClusterChoice): GroupBackend {
  const clock = realClock();
  return {
    clock,
    async open(request) {
      const { cluster, images } = await openCluster(choice, request);
      return openGroupTestbed({ ...request, cluster, images, clock });
    },
  };
}
