/** A plain `kubectl delete pod`: the object stays until its kubelet confirms that it has stopped. */
import type { RemedyOf } from './remedy.ts';

export const plainDelete: RemedyOf<'delete'> = {
  name: 'delete',
  async apply({ volumes }) {
    for (const { pods, pod } of volumes) await pods.deletePod(pod);
    return undefined;
  },
};
