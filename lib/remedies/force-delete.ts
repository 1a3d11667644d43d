/** Force delete: `kubectl delete pod --force --grace-period=0`, the pod object gone unconfirmed. */
import type { RemedyOf } from './remedy.ts';

export const forceDelete: RemedyOf<'force-delete'> = {
  name: 'force-delete',
  async apply({ volumes }) {
    for (const { pods, pod } of volumes) await pods.forceDelete(pod);
    return undefined;
  },
};
