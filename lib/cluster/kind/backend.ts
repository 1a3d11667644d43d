/** The backend `kind`: images, a cluster of our own, and a testbed on it. */
import type { Backend } from '../port.ts';
import { openCluster, type ClusterChoice } from './open-cluster.ts';
import { realClock } from './real-clock.ts';
import { openKindTestbed } from './testbed.ts';

export function kindBackend(choice: ClusterChoice = {}): Backend {
  const originNs = process.hrtime.bigint();
  const clock = realClock(originNs);
  return {
    backend: 'kind',
    clock,
    async open(request) {
      const { cluster, images } = await openCluster(choice, request);
      return openKindTestbed({ ...request, cluster, images, clock, originNs });
    },
  };
}
