/**
 * `kubectl delete node`: its pods are orphans, which the pod GC removes after a quarantine of 40 s.
 * A kubelet makes its Node object only when it starts, so that the undo restarts it.
 */
import { remedyKind } from './kind.ts';

export const deleteNode = remedyKind({
  name: 'delete-node',
  on: 'node',
  acts: ['delete node'],
  undo: 'register node',
  removesPodObject: true,
  needs: ['node-deletion', 'kubelet-restart'],
  words: 'the Node object is deleted',
  does: 'the Node object is deleted; its pods are orphans, which Kubernetes removes after 40 to 80 s',
});
