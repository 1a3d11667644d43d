/**
 * The out-of-service taint (KEP-2268, GA in 1.28): the operator states that the node is down. The
 * pod GC removes its Terminating pods and the attach/detach controller skips the six-minute wait.
 */
import { outOfServiceKey } from '../../core/index.ts';
import { remedyKind } from './kind.ts';

export const outOfService = remedyKind({
  name: 'out-of-service',
  on: 'node',
  acts: ['taint out-of-service'],
  undo: 'untaint',
  taints: true,
  removesPodObject: true,
  needs: ['node-taint'],
  words: 'the old node gets the out-of-service taint',
  does: `the node gets the taint \`${outOfServiceKey}\`; the volume is detached within seconds, with no wait for an unmount`,
});
