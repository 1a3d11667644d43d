/** The node is tainted out-of-service. */
import { outOfServiceKey } from '../../taints.ts';
import { remedyKind } from './kind.ts';

export const outOfService = remedyKind({
  name: 'out-of-service',
  on: 'node',
  taints: true,
  removesPodObject: true,
  needs: ['node-taint'],
  does: `the node gets the taint \`${outOfServiceKey}\`; the volume is detached within seconds, with no wait for an unmount`,
});
