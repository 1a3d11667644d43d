/** The Node object is deleted. */
import { remedyKind } from './kind.ts';

export const deleteNode = remedyKind({
  name: 'delete-node',
  on: 'node',
  removesPodObject: true,
  needs: ['node-deletion', 'kubelet-restart'],
  does: 'the Node object is deleted; its pods are orphans, which Kubernetes removes after 40 to 80 s',
});
