/** `kubectl drain` with a time limit. */
import { remedyKind } from './kind.ts';

export const drain = remedyKind({
  name: 'drain',
  on: 'node',
  needs: ['drain'],
  does: '`kubectl drain` with a time limit; on a node that is off it waits for its kubelet in vain',
});
