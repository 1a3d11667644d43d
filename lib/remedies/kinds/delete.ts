/** A plain `kubectl delete pod`. */
import { remedyKind } from './kind.ts';

export const plainDelete = remedyKind({
  name: 'delete',
  on: 'pod',
  does: 'the pod is deleted as usual, and waits for its kubelet to confirm',
});
