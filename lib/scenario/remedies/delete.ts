/** A plain `kubectl delete pod`: the object stays until its kubelet confirms that the pod has stopped. */
import { remedyKind } from './kind.ts';

export const plainDelete = remedyKind({
  name: 'delete',
  on: 'pod',
  acts: ['delete pod'],
  words: 'the old pod is deleted without force',
  does: 'the pod is deleted as usual, and waits for its kubelet to confirm',
});
