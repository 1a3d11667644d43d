/** Images, a cluster of our own, and a replication group on it. */
import { groupObserved } from '../../../group-replication/observations.ts';
import type { GroupTestbed } from '../../../group-replication/port.ts';
import type { GroupSettings } from '../../../group-replication/settings.ts';
import type { Backend } from '../../port.ts';
import { openCluster, type ClusterChoice } from '../create/open-cluster.ts';
import { realClock } from '../real-clock.ts';
import { openGroupTestbed } from './group-testbed.ts';

export function groupBackend(
  choice: ClusterChoice,
  settings: GroupSettings,
): Backend<GroupTestbed> {
  const clock = realClock();
  return {
    backend: 'kind',
    clock,
    async open(request) {
      const said = { type: 'observation', source: 'group', name: groupObserved.settings } as const;
      // First of all that is observed: by this a history is known to be a group's.
      request.recorder.record({ ...said, data: { ...settings } });
      return openGroupTestbed({
        ...request,
        ...(await openCluster(choice, request)),
        settings,
        clock,
      });
    },
  };
}
