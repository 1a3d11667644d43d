/** Force delete: `kubectl delete pod --force --grace-period=0`, the pod object gone unconfirmed. */
import type { Remedy } from './remedy.ts';

export const forceDelete: Remedy = {
  name: 'force-delete',
  apply: (testbed, victim) => testbed.kubernetes.forceDelete(victim),
  undo: () => Promise.resolve(),
};
