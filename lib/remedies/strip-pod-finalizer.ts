/**
 * The pod force-deleted, then its finalizers taken away: what people do when a force delete seems to
 * hang. Without the force delete the API server would go on waiting for the kubelet.
 */
import type { RemedyOf } from './remedy.ts';

export const stripPodFinalizer: RemedyOf<'strip-pod-finalizer'> = {
  name: 'strip-pod-finalizer',
  async apply({ volumes }) {
    for (const { pods, pod } of volumes) {
      await pods.forceDelete(pod);
      await pods.stripPodFinalizers(pod);
    }
    return undefined;
  },
};
