/** `kubectl drain --timeout`: cordons the node, evicts its pods, and waits for kubelets to confirm. */
import { remedyKind } from './kind.ts';

export const drain = remedyKind({
  name: 'drain',
  on: 'node',
  acts: ['drain'],
  undo: 'uncordon',
  needs: ['drain'],
  words: 'the old node is drained',
  does: '`kubectl drain` with a time limit; on a node that is off it waits for its kubelet in vain',
});
