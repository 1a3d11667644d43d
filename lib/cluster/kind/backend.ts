/** The backend `kind`: images, a cluster of our own, and a testbed on it. */
import type { Backend } from '../port.ts';
import { shareFault } from '../shared-fault.ts';
import { openCluster, type ClusterChoice } from './create/open-cluster.ts';
import { realClock } from './real-clock.ts';
import type { Beside } from './shared-cluster.ts';
import { openKindTestbed } from './testbed.ts';

/** `beside`: other runs share the cluster and the fault event. Default: none. */
export function kindBackend(choice: ClusterChoice = {}, beside?: Beside): Backend {
  const clock = realClock();
  return {
    backend: 'kind',
    clock,
    capabilities: ['node-shell'],
    async open(request) {
      const own = { ...request, clock };
      if (beside === undefined) {
        return openKindTestbed({ ...own, ...(await openCluster(choice, request)) });
      }
      const { party, shared } = beside;
      const opened = await shared.join(party, choice, request);
      return shareFault(await openKindTestbed({ ...own, ...opened, beside }), party);
    },
  };
}
