/** Force delete: `kubectl delete pod --force --grace-period=0`, the pod object gone unconfirmed. */
import type { Remedy } from './remedy.ts';

export const forceDelete: Remedy = {
  name: 'force-delete',
  async apply({ volumes }) {
    for (const { pods, pod } of volumes) await pods.forceDelete(pod);
    return undefined;
  },
};
