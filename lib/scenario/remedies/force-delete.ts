/** `kubectl delete pod --force --grace-period=0`: the pod object is gone unconfirmed. */
import { remedyKind } from './kind.ts';

export const forceDelete = remedyKind({
  name: 'force-delete',
  on: 'pod',
  acts: ['force-delete pod'],
  removesPodObject: true,
  words: 'the old pod is force-deleted',
  does: 'the pod is deleted with grace period 0; the forced detach follows six minutes later',
});
