/** A plain `kubectl delete pod`: the object stays until its kubelet confirms that it has stopped. */
import type { Remedy } from './remedy.ts';

export const plainDelete: Remedy = {
  name: 'delete',
  async apply({ volumes }) {
    for (const { pods, pod } of volumes) await pods.deletePod(pod);
    return undefined;
  },
};
