/** The backend `kind`: images, a cluster of our own, and a testbed on it, with one server or with a group. */
import { groupSize } from '../../database/kinds/group-replication.ts';
import type { Backend } from '../port.ts';
import { openCluster, type ClusterChoice } from './create/open-cluster.ts';
import { openGroupTestbed } from './group/group-testbed.ts';
import { realClock } from './real-clock.ts';
import type { SharedCluster } from './shared-cluster.ts';
import { openKindTestbed } from './testbed.ts';

/** `shared`: the cluster of a fault event that strikes several runs. Default: one of its own. */
export function kindBackend(choice: ClusterChoice = {}, shared?: SharedCluster): Backend {
  const clock = realClock();
  return {
    backend: 'kind',
    clock,
    async open(request) {
      const own = { ...request, clock };
      const { event } = request;
      if (shared === undefined || event === undefined) {
        return openKindTestbed({ ...own, ...(await openCluster(choice, request)) });
      }
      const opened = await shared.join(event, choice, request);
      return openKindTestbed({ ...own, ...opened, beside: { event, shared } });
    },
    async openGroup(request) {
      const { workers = groupSize } = choice;
      const opened = await openCluster({ ...choice, workers }, request);
      return openGroupTestbed({ ...request, ...opened, clock });
    },
  };
}
